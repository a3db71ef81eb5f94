// Requests a second that the cached board answers, driven by wrk on the same machine, beside what /healthz
// (the smallest answer) reaches in the same run. Usage: BENCHLEDGER_BINARY=... node tests/bench/board.mjs
import { execFileSync, spawnSync } from 'node:child_process';
import { makeRun } from '../support/run.mjs';
import { startService } from '../support/service.mjs';

const RUNS = 40, ROUNDS = 3, SECONDS = 4;
if (spawnSync('wrk', ['-v']).error) {
  console.log('wrk is not installed: apt-get install wrk');
  process.exit(1);
}
const cleanups = [];
const service = await startService({ after: (work) => cleanups.push(work) });
for (let i = 0; i < RUNS; i++) {
  const run = makeRun({ id: `bench-run-${String(i).padStart(5, '0')}`, seed: i + 1,
    gpuModel: `GeForce RTX ${3000 + (i % 8) * 10}` });
  const answer = await service.submit(run);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
}
const size = (await (await service.fetch('/api/bench/leaderboard')).arrayBuffer()).byteLength;
console.log(`board of ${RUNS} runs, ${size} bytes`);

function rate(place, headers) {
  const flags = headers.flatMap((header) => ['-H', header]);
  const out = execFileSync('wrk', ['-t1', '-c32', `-d${SECONDS}s`, ...flags, service.base + place],
    { encoding: 'utf8' });
  if (/Non-2xx/.test(out)) throw new Error(out);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(out)[1]);
}
const work = [
  ['board, gzip', '/api/bench/leaderboard', ['Accept-Encoding: gzip']],
  ['board, plain', '/api/bench/leaderboard', []],
  ['/healthz', '/healthz', []],
];
const rates = work.map(() => []);
for (let round = 0; round < ROUNDS; round++)
  work.forEach(([, place, headers], i) => rates[i].push(rate(place, headers)));
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
work.forEach(([name], i) => {
  const share = 100 * median(rates[i]) / median(rates.at(-1));
  console.log(`  ${name.padEnd(14)} ${median(rates[i]).toFixed(0).padStart(7)} requests/s ` +
    `(${rates[i].map((value) => value.toFixed(0)).join(', ')}), ${share.toFixed(0)} % of /healthz`);
});
for (const cleanup of cleanups) await cleanup();
