// How much faster than plain Node code is `check`? Both judge the same made-up files on the same core,
// alternating; start-up of both is part of the figure, so there is enough work to make it small.
//   BENCHLEDGER_BINARY=... node tests/bench/check_vs_node.mjs [ROUNDS]
import { spawnSync } from 'node:child_process';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { CELL_KINDS, makeRun, seal } from '../support/run.mjs';
import { Folder } from '../support/checker.mjs';

const BASELINE = fileURLToPath(new URL('baseline.mjs', import.meta.url));
const ROUNDS = Number(process.argv[2] ?? 5);
const SETS = [
  { name: '70 KB files', files: 600, options: { chunks: 110, iterations: 12, clock: 'fine' } },
  { name: '1.4 MB files', files: 15, options: { chunks: 1000, iterations: 36, clock: 'fine' } },
];

const taskset = spawnSync('taskset', ['-c', '0', 'true']).status === 0 ? ['taskset', '-c', '0'] : [];

/** What COMMAND takes over the files: seconds on the wall and of CPU, which a busy machine disturbs less. */
function timed(command, files) {
  const script = 'TIMEFORMAT="%U %S"; time "$@"';
  const started = process.hrtime.bigint();
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', ...taskset, ...command, ...files],
    { maxBuffer: 1 << 30 });
  const wall = Number(process.hrtime.bigint() - started) / 1e9;
  if (status !== 0) throw new Error(`${command.join(' ')}: ${status} ${stderr}`);
  const [user, system] = stderr.toString().trim().split(/\s+/).slice(-2).map((text) =>
    Number(text.replace(',', '.')));
  return { wall, cpu: user + system, stdout };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const rate = (bytes, seconds) => (bytes / 1e6 / seconds).toFixed(1).padStart(6);

function report(name, rounds, bytes, clock) {
  const seconds = rounds.map((round) => round[clock]);
  const figures = [median(seconds), Math.max(...seconds), Math.min(...seconds)].map((value) => rate(bytes, value));
  console.log(`  ${name.padEnd(18)} ${clock.padEnd(4)} ${figures[0]} MB/s (${figures[1]} to ${figures[2]} )`);
  return median(seconds);
}

console.log(`node ${process.version}, ${os.cpus()[0].model}, ${taskset.length > 0 ? 'one core' : 'not bound to a core: taskset is missing'}, ${ROUNDS} rounds, load ${os.loadavg()[0].toFixed(1)}`);
for (const { name, files: count, options } of SETS) {
  const folder = new Folder();
  try {
    let bytes = 0;
    const files = Array.from({ length: count }, (_, i) => {
      const text = JSON.stringify(seal(makeRun({ seed: i + 1, cells: CELL_KINDS, ...options })));
      bytes += text.length;
      return folder.write(`${i}.json`, text);
    });
    const binary = [process.env.BENCHLEDGER_BINARY, 'check', '--json', '--any-protocol'];
    const node = [process.execPath, BASELINE];
    if (!timed(binary, files).stdout.equals(timed(node, files).stdout)) throw new Error('the two do not agree');
    const rounds = { binary: [], node: [] };
    for (let round = 0; round < ROUNDS; round++) {
      rounds.binary.push(timed(binary, files));
      rounds.node.push(timed(node, files));
    }
    console.log(`${name}: ${count} of ${Math.round(bytes / count / 1000)} KB`);
    for (const clock of ['cpu', 'wall']) {
      const ours = report('benchledger check', rounds.binary, bytes, clock);
      const theirs = report('plain Node', rounds.node, bytes, clock);
      console.log(`  ratio of medians   ${clock.padEnd(4)} ${(theirs / ours).toFixed(1).padStart(6)}`);
    }
  } finally {
    folder.close();
  }
}
