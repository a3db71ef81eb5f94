// What grows with a dataset: the CPU time of one submission and of the board after it, the start, the memory. The same
// submissions in turn to a service with 100 index entries and to one with many, both past the summary's limit.
// Usage: BENCHLEDGER_BINARY=... node tests/bench/growth.mjs [RUNS] [SUBMISSIONS]
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeArchive } from '../support/archive.mjs';
import { makeRun, seal, sha256 } from '../support/run.mjs';
import { Service } from '../support/service.mjs';

const [RUNS = 50_000, SUBMISSIONS = 150] = process.argv.slice(2).map(Number);
const SMALL = 100, WARM = 10, SUMMARY_LIMIT = 100_000;
const DEVICES = 40, CELLS = 8; // three runs of a device have all its rows, so that both boards have the same ones
const RUNTIMES = ['webllm', 'wllama', 'transformers-webgpu'], MODELS = ['smollm2-135m', 'qwen2.5-0.5b', 'llama-3.2-1b', 'gemma-3-1b'];
const WORKLOADS = ['chat-pp128-tg128', 'chat-pp512-tg128'];

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const scattered = (random, value) => value * (0.9 + random.below(1e9) / 5e9);

function madeUpCell(random, n) {
  const runtimeId = RUNTIMES[n % 3], benchModelId = MODELS[Math.floor(n / 3) % 4], workloadId = WORKLOADS[Math.floor(n / 12)];
  return { cellId: `${runtimeId}/${benchModelId}/${workloadId}`, runtimeId, runtimeVersion: '0.2.79', benchModelId,
    modelName: `${benchModelId} (q4f16_1)`, workloadId, resolvedBackend: 'webgpu', ttftMs: scattered(random, 300),
    decodeCharsPerSec: scattered(random, 90), overallCharsPerSec: scattered(random, 80), streamIncremental: true,
    loadMs: scattered(random, 2000), loadCached: random.chance(0.5), highVariance: false };
}

/** An entry of 3 to 4 KB as a real run leaves it; the run's file is left out, which nothing here reads. */
function madeUpRun(random, i, createdAt) {
  const runId = `growth-run-${String(i).padStart(6, '0')}`, number = 3000 + i % DEVICES * 10,
    first = Math.floor(i / DEVICES) * CELLS;
  const flagged = i % 50 === 49;
  const entry = { runId, createdAt, protocol: 'localmode-bench/5', suite: 'full', deviceClass: 'windows/nvidia-ampere',
    deviceSubclass: `windows/nvidia-geforce-rtx-${number}`, browser: random.pick(['Chrome', 'Edge', 'Firefox']),
    browserVersion: `${140 + random.below(6)}.0.7204.49`, engine: 'Blink', os: 'Windows', osVersion: '15.0.0', architecture: 'x86',
    gpuVendor: 'nvidia', gpuArchitecture: 'ampere', gpuModel: `NVIDIA GeForce RTX ${number}`, deviceType: 'desktop', cores: 16,
    deviceMemoryGB: 8, jsHeapSizeLimitBytes: 4294705152, storageQuotaBytes: 599637166080 + random.below(1e9),
    crossOriginIsolated: true, webgpu: true, timerResolutionUs: 5, webdriver: false, harnessVersion: '1.12.0',
    runtimeVersions: { '@mlc-ai/web-llm': '0.2.79', '@wllama/wllama': '2.3.1', '@huggingface/transformers': '3.7.1' },
    flagged, path: `${flagged ? 'quarantine' : 'runs'}/${createdAt.slice(0, 4)}/${createdAt.slice(5, 7)}/${runId}.json`,
    cells: Array.from({ length: CELLS }, (_, n) => madeUpCell(random, (first + n) % 24)) };
  return { digest: sha256(runId), flagged, entry };
}

class Measured extends Service {
  spent = { submission: [], board: [], filtered: [], kept: [] };

  status(name) {
    return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8'))[1]) / 1000;
  }

  /** User and system time of the process, as utime and stime of /proc/PID/stat add up to, to the nanosecond. */
  cpuMs() {
    const tasks = `/proc/${this.child.pid}/task`;
    return readdirSync(tasks).reduce((sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6, 0);
  }

  async spend(kind, work) {
    const before = this.cpuMs();
    await work();
    this.spent[kind].push(this.cpuMs() - before);
  }
}

async function begin(folder, runs) {
  mkdirSync(folder);
  const service = new Measured(folder, { config: { summary_limit: SUMMARY_LIMIT } });
  const made = await makeArchive(service.store, runs, { summaryLimit: SUMMARY_LIMIT, freshSegment: true, publish: madeUpRun });
  const started = performance.now();
  await service.begin();
  const ms = performance.now() - started;
  console.log(`${made.runs} runs in ${made.segments} segments: start ${(ms / 1000).toFixed(2)} s, ${
    (service.cpuMs() / 1000).toFixed(2)} s of CPU, ${service.status('VmHWM').toFixed(0)} MB at most, then ${
    service.status('VmRSS').toFixed(0)} MB`);
  return service;
}

async function answered(service, place) {
  const response = await service.fetch(place);
  if (response.status !== 200) throw new Error(`${place}: ${response.status}`);
  return response.text();
}

async function submitAll(sides) {
  const board = '/api/bench/leaderboard';
  for (let i = 0; i < WARM + SUBMISSIONS; i++) {
    const run = makeRun({ id: `one-more-${i}`, seed: i + 1, gpuModel: `NVIDIA GeForce RTX ${3000 + i % DEVICES * 10}` });
    for (const side of i % 2 ? sides : [...sides].reverse()) { // in turn, so that the machine's moods meet both
      if (i === WARM) for (const kind of Object.keys(side.spent)) side.spent[kind] = [];
      const sealed = seal(run, await side.nonce());
      await side.spend('submission', async () => {
        const { status, body } = await side.post(sealed);
        if (status !== 200) throw new Error(JSON.stringify(body));
      });
      await side.spend('board', () => answered(side, board));
      await side.spend('filtered', () => answered(side, `${board}?browser=Chrome&runtimeId=webllm`));
      await side.spend('kept', async () => { for (let n = 0; n < 10; n++) await answered(side, board); });
    }
  }
}

const folder = mkdtempSync(path.join(process.env.BENCH_FOLDER ?? tmpdir(), 'benchledger-growth-'));
const sides = [await begin(path.join(folder, 'few'), SMALL), await begin(path.join(folder, 'many'), RUNS)];
await submitAll(sides);
const [few, many] = sides.map(({ spent }) => spent);
for (const [kind, name, times] of [['submission', 'one submission', 1], ['board', 'the board made anew after it', 1],
  ['filtered', 'a filtered board made anew', 1], ['kept', 'the board as it is kept', 10]])
  console.log(`${name.padEnd(30)} ${[few, many].map((spent) => `${(median(spent[kind]) / times).toFixed(2)} ms`).join(' and ')
    } of CPU, ratio ${(median(many[kind]) / median(few[kind])).toFixed(2)}`);
for (const side of sides) {
  const { rows } = JSON.parse(await answered(side, '/api/bench/leaderboard'));
  console.log(`${rows.length} rows, ${side.status('VmHWM').toFixed(0)} MB at most`);
  await side.stop();
}
rmSync(folder, { recursive: true, force: true });
