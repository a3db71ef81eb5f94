// Boards of any size without run files: index entries, and a repository that has nothing but them (as an older
// archive has), for what only looks at the board.
//
//   node tests/support/boards.mjs REPOSITORY DEVICES      100 rows a device
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Random } from './prng.mjs';

const PLATFORMS = ['Android', 'macOS', 'Windows', 'Linux', 'iOS'];
const GPUS = [['qualcomm', 'adreno-6xx', 'Adreno (TM)', 'android/adreno-'], ['apple', 'metal-3', 'Apple M', 'macos/apple-m'],
  ['nvidia', 'ampere', 'NVIDIA GeForce RTX', 'windows/nvidia-geforce-rtx-'], ['intel', 'xe-lpg', 'Intel Arc A', 'linux/intel-arc-a'],
  ['apple', 'apple', 'Apple A', 'ios/apple-a']];
const BROWSERS = [['Google Chrome', 'Blink'], ['Firefox', 'Gecko'], ['Safari', 'WebKit'], ['Microsoft Edge', 'Blink']];
const RUNTIMES = ['webllm', 'wllama', 'transformers-webgpu', 'transformers-wasm', 'litert'];
const MODELS = ['smollm2-135m', 'qwen2.5-0.5b', 'llama-3.2-1b', 'gemma-3-1b', 'bge-small-en'];
const CHAT = ['chat-pp128-tg128', 'chat-pp512-tg128', 'chat-multi-turn', 'quality-mmlu-100'];
const EMBED = ['embed-single', 'embed-batch32', 'embed-long', 'quality-sts-100'];

const scatter = (random, value, share = 0.2) => value * (1 + (random.below(10001) / 10000 - 0.5) * share);

function figures(random, speed, workloadId, embeds) {
  if (workloadId.startsWith('quality-')) return { qualityScore: scatter(random, 0.6, 0.1),
    ...(embeds ? {} : { qualityParseRate: 0.97 }) };
  if (workloadId === 'embed-batch32') return { batchTextsPerSec: scatter(random, 20 * speed) };
  if (embeds) return { singleLatencyMs: scatter(random, 60 / speed) };
  const burst = random.below(12) === 0;
  return { ...(burst ? {} : { ttftMs: scatter(random, 300 / speed), decodeCharsPerSec: scatter(random, 90 * speed) }),
    overallCharsPerSec: scatter(random, 80 * speed), streamIncremental: !burst };
}

/** Entries whose board has 100 rows for each of DEVICES, with one to six runs a row. */
export function boardEntries(devices, seed = 1) {
  const random = new Random(seed);
  const entries = [];
  for (let device = 0; device < devices; device++) {
    const kind = device % PLATFORMS.length, number = 100 + device * 10;
    const [gpuVendor, gpuArchitecture, model, subclass] = GPUS[kind];
    const speed = 0.5 + (device % 13) / 3;
    for (let i = 0; i < 6; i++) {
      const [browser, engine] = random.pick(BROWSERS);
      const runId = `board-run-${String(device).padStart(4, '0')}-${i}`;
      const createdAt = new Date(Date.UTC(2026, 2, 1) + (device * 6 + i) * 3_600_000).toISOString();
      entries.push({ runId, createdAt, protocol: 'localmode-bench/5', suite: 'full',
        deviceClass: `${PLATFORMS[kind].toLowerCase()}/${gpuVendor}-${gpuArchitecture}`, deviceSubclass: `${subclass}${number}`,
        browser, browserVersion: `${140 + i}.0.1`, engine, os: PLATFORMS[kind], osVersion: '14', gpuVendor, gpuArchitecture,
        gpuModel: `${model} ${number}`, cores: 8, webgpu: true, flagged: false, path: `runs/2026/03/${runId}.json`,
        cells: cellsOf(random, speed, i) });
    }
  }
  return entries;
}

/** Run I of a device has the first cell of each runtime always, the others the less often the later it is. */
function cellsOf(random, speed, i) {
  const cells = [];
  for (const [r, runtimeId] of RUNTIMES.entries()) for (const [m, benchModelId] of MODELS.entries()) {
    const embeds = benchModelId === 'bge-small-en';
    for (const workloadId of embeds ? EMBED : CHAT) {
      if (i > 0 && random.below(6) < i) continue;
      const load = random.below(3) > 0 ? { loadMs: scatter(random, 2000 * (m + 1)), loadCached: random.chance(0.5) } : {};
      cells.push({ cellId: `${runtimeId}/${benchModelId}/${workloadId}`, runtimeId, runtimeVersion: '1.2.3', benchModelId,
        modelName: `${benchModelId} (${runtimeId})`, workloadId,
        resolvedBackend: runtimeId.endsWith('wasm') || runtimeId === 'wllama' ? 'wasm' : 'webgpu',
        ...figures(random, speed * (1 + r / 5) / (m + 1), workloadId, embeds), ...load, highVariance: random.below(15) === 0 });
    }
  }
  return cells;
}

/** A bare repository at REPOSITORY whose index is ENTRIES. */
export function makeBoard(repository, entries) {
  const git = (input, ...args) => execFileSync('git', ['--git-dir', repository, ...args], { input, encoding: 'utf8',
    env: { ...process.env, GIT_AUTHOR_NAME: 'maker', GIT_AUTHOR_EMAIL: 'maker@example.org', GIT_COMMITTER_NAME: 'maker',
      GIT_COMMITTER_EMAIL: 'maker@example.org' } }).trim();
  execFileSync('git', ['init', '--quiet', '--bare', '--template=', '-b', 'main', repository]);
  const blob = git(JSON.stringify(entries), 'hash-object', '-w', '--stdin');
  const index = git(`100644 blob ${blob}\tsummary.json\n`, 'mktree');
  const tree = git(`040000 tree ${index}\tindex\n`, 'mktree');
  git('', 'update-ref', 'refs/heads/main', git('', 'commit-tree', tree, '-m', 'bench: an index'));
  return repository;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [repository, devices] = process.argv.slice(2);
  if (!(Number(devices) > 0)) {
    console.error(`usage: node ${path.basename(process.argv[1])} REPOSITORY DEVICES`);
    process.exit(64);
  }
  makeBoard(repository, boardEntries(Number(devices)));
}
