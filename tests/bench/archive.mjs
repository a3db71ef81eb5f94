// audit, index and export over an archive of 10,000 runs of 70 KB, beside reading its bytes alone.
// Usage: BENCHLEDGER_BINARY=... node tests/bench/archive.mjs [RUNS]
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeArchive } from '../support/archive.mjs';

const RUNS = Number(process.argv[2] ?? 10_000), CHUNKS = 800, PASSES = 3;
const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-archive-'));
const bare = path.join(folder, 'archive.git'), tree = path.join(folder, 'tree');
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** {seconds, cpu, mb}: wall time, processor time and peak memory of one command; its exit code is 0. */
function timed(args) {
  const { status, stderr } = spawnSync('/usr/bin/time', ['-f', '%e %U %S %M', ...args], { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  const [seconds, user, system, kb] = stderr.trim().split('\n').at(-1).split(' ').map(Number);
  return { seconds, cpu: user + system, mb: kb / 1024 };
}

try {
  await makeArchive(bare, RUNS, { chunks: CHUNKS, summaryLimit: Infinity });
  execFileSync('git', ['clone', '-q', bare, tree]);
  const files = execFileSync('sh', ['-c', 'find "$0/runs" "$0/quarantine" -type f -printf "%s\n"', tree], { maxBuffer: 1 << 26 })
    .toString().trim().split('\n').map(Number);
  const total = files.reduce((a, b) => a + b, 0) / 1e6;
  console.log(`${files.length} runs, ${total.toFixed(0)} MB, ${(total * 1000 / files.length).toFixed(1)} KB each`);
  const reading = () => timed(['sh', '-c', 'find "$0/runs" "$0/quarantine" -type f -print0 | xargs -0 cat >/dev/null', tree]);
  const commands = { audit: (at) => ['audit', at], index: (at) => ['index', '--dry-run', at],
    export: (at) => ['export', '--with-quarantine', at, path.join(folder, 'out')] };
  for (const [kind, at] of [['work tree', tree], ['bare repository', bare]])
    for (const [name, args] of Object.entries(commands)) {
      const alone = [], runs = [];
      for (let i = 0; i < PASSES; i++) {
        alone.push(reading());
        runs.push(timed([process.env.BENCHLEDGER_BINARY, ...args(at)]));
      }
      const seconds = median(runs.map((run) => run.seconds)), cat = median(alone.map((run) => run.seconds));
      console.log(`${name} of a ${kind}: ${seconds.toFixed(2)} s, ${(total / seconds).toFixed(0)} MB/s (`
        + `${(total / Math.min(...runs.map((run) => run.seconds))).toFixed(0)} at best), processor ${median(runs.map((run) => run.cpu)).toFixed(2)} s, `
        + `peak ${Math.max(...runs.map((run) => run.mb)).toFixed(0)} MB; reading the bytes alone ${cat.toFixed(2)} s, `
        + `${(100 * cat / seconds).toFixed(0)} % of it`);
    }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
