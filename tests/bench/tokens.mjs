// What 1,000 wrong tokens a second cost those who submit: the same submissions alone, beside them, and beside as many
// requests that do nothing, alternating.
// Usage: BENCHLEDGER_BINARY=... node tests/bench/tokens.mjs
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { makeMaintainers } from '../support/review.mjs';
import { makeRun, seal } from '../support/run.mjs';
import { startService } from '../support/service.mjs';

const REVIEW = '/api/bench/review', HEALTH = '/healthz';
const RATE = 1000, TICK_MS = 20, ROUNDS = 6, RUNS = 40;
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** In a thread of its own: asks RATE times a second until it is told to end, and says how often each status came. */
function ask({ port, place }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const statuses = {};
  const body = place === REVIEW ? '{"runId":"x","action":"keep","reason":"x","expectedRevision":0}' : '';
  let number = 0, pending = 0;
  const one = () => {
    pending++;
    request({ port, host: '127.0.0.1', path: place, agent, method: body ? 'POST' : 'GET', headers: body
      ? { 'content-type': 'application/json', 'content-length': body.length, authorization: `Bearer wrong-${number++}` }
      : {} }, (response) => {
      statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1;
      response.resume().on('close', () => { pending--; });
    }).on('error', () => { pending--; }).end(body);
  };
  const timer = setInterval(() => { for (let i = 0; i < RATE * TICK_MS / 1000 && pending < 200; i++) one(); }, TICK_MS);
  parentPort.on('message', () => {
    clearInterval(timer);
    agent.destroy();
    parentPort.postMessage(statuses);
    parentPort.close();
  });
}

function startAsking(service, place) {
  const worker = new Worker(new URL(import.meta.url), { workerData: { port: service.port, place } });
  return async () => {
    const answered = once(worker, 'message');
    worker.postMessage('end');
    return (await answered)[0];
  };
}

async function submitAll(service, round) {
  const times = [];
  for (let i = 0; i < RUNS; i++) {
    const run = seal(makeRun({ id: `bench-${round}-${i}`, seed: i + 1 }), await service.nonce());
    const started = performance.now();
    const { status } = await service.post(run);
    if (status !== 200) throw new Error(`a submission was answered ${status}`);
    times.push(performance.now() - started);
  }
  return times;
}

async function main() {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-tokens-')), cleanups = [];
  const { file } = await makeMaintainers(folder, [['ada', 'admin']]);
  const service = await startService({ after: (work) => cleanups.push(work) }, { config: { maintainers_file: file } });
  service.child.stderr.removeAllListeners('data').resume(); // a line for each attempt: not kept here
  const kinds = { alone: null, [HEALTH]: HEALTH, 'wrong tokens': REVIEW };
  const times = {}, seen = {}, seconds = {};
  for (let round = 0; round < ROUNDS; round++) {
    for (const [kind, place] of Object.entries(kinds)) {
      const end = place ? startAsking(service, place) : async () => ({}), started = performance.now();
      (times[kind] ??= []).push(...await submitAll(service, `${Object.keys(kinds).indexOf(kind)}-${round}`));
      seconds[kind] = (seconds[kind] ?? 0) + (performance.now() - started) / 1000;
      for (const [status, count] of Object.entries(await end()))
        (seen[kind] ??= {})[status] = (seen[kind][status] ?? 0) + count;
    }
  }
  for (const [kind, statuses] of Object.entries(seen)) {
    const all = Object.values(statuses).reduce((sum, count) => sum + count, 0);
    console.log(`submission: median ${median(times.alone).toFixed(1)} ms alone, ${median(times[kind]).toFixed(1)} ms beside ${
      (all / seconds[kind]).toFixed(0)} requests a second (${kind}: ${Object.entries(statuses)
      .map(([status, count]) => `${count} x ${status}`).join(', ')}): ratio ${(median(times[kind]) / median(times.alone)).toFixed(2)}`);
  }
  for (const work of cleanups) await work();
  rmSync(folder, { recursive: true, force: true });
}

if (isMainThread) await main();
else ask(workerData);
