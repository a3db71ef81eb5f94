// Archives of honest runs with copies among them, for what looks for the same stream in two runs.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { recompute } from '../bench/baseline.mjs';
import { Random } from './prng.mjs';
import { makeRun, seal } from './run.mjs';

const WORDS = ['a', 'the', 'model', 'writes', 'plainly', 'about', 'timers', 'and', 'words'];
const CLOCKS = [5, 20, 100]; // us
const between = (random, low, high) => low + (high - low) * random.below(1_000_000) / 1_000_000;
/** About normal, from twelve draws. */
const normal = (random) => Array.from({ length: 12 }, () => between(random, -0.5, 0.5)).reduce((a, b) => a + b);

/** Streams as devices make them: of one speed, with jitter, now and then a stall, read through a timer. */
function stream(random, startT, { gapMs, jitter, resolution, chunks }) {
  const step = resolution / 1000;
  const read = (t) => Math.floor(t / step) * step;
  let t = startT + between(random, 50, 400), text = '';
  const made = Array.from({ length: chunks }, () => {
    const word = `${WORDS[random.below(WORDS.length)]} `;
    text += word;
    t += gapMs * Math.exp(jitter * normal(random)) * (random.below(100) ? 1 : 6);
    return { t: read(t), c: word.length };
  });
  return { startT: read(startT), chunks: made, endT: read(t + 1), text, gates: [] };
}

/** Honest run number I, of one of a few devices. */
export function honestRun(i, options = {}) {
  const random = new Random(1_000_003 * (i + 1));
  const device = random.below(40);
  const resolution = options.resolution ?? CLOCKS[device % 3];
  const run = makeRun({ id: `honest-run-${String(i).padStart(6, '0')}`, seed: i + 1, cells: ['embed-single', 'embed-batch', 'llm'],
    createdAt: new Date(Date.UTC(2026, 0, 2) + (i % 7000) * 3_600_000).toISOString(), gpuModel: `GPU ${device}` });
  run.environment.timerResolutionUs = resolution;
  const cell = run.cells.at(-1);
  let startT = cell.load.endT + 10;
  cell.iterations = cell.iterations.map(() => {
    const made = stream(random, startT, { gapMs: 12 + device, jitter: 0.05 + (device % 5) * 0.05, resolution,
      chunks: 100 + random.below(100) });
    startT = made.endT + 1;
    return made;
  });
  run.clientSummaries = recompute(run);
  return run;
}

const move = (cell, change) => {
  for (const iteration of cell.iterations) {
    iteration.startT = change(iteration.startT);
    iteration.endT = change(iteration.endT);
    for (const chunk of iteration.chunks ?? []) chunk.t = change(chunk.t);
  }
};
const rename = (cell) => Object.assign(cell, { cellId: `renamed/${cell.cellId}`, runtimeId: 'litert',
  model: { ...cell.model, runtimeId: 'litert', benchModelId: 'other-model', displayName: 'Other' } });

/** How a copied cell is disguised, and the factor of its times. */
export const DISGUISES = {
  'as it is': [() => {}, 1],
  'another start': [(cell) => move(cell, (t) => t + 98765.4321), 1],
  'an earlier start': [(cell) => move(cell, (t) => t - 4000), 1],
  'other names': [rename, 1],
  faster: [(cell) => move(cell, (t) => t * 0.61803), 0.61803],
  slower: [(cell) => move(cell, (t) => 200_000 + t * 2.2), 2.2],
  everything: [(cell) => { rename(cell); move(cell, (t) => 77.7 + t * 1.137); }, 1.137],
};

/** A run of another device with the streams of ORIGINAL, disguised: {run, factor, iterations}. ONE: only one of them. */
export function plantedRun(i, original, disguise, one = false) {
  const [change, factor] = DISGUISES[disguise];
  const run = honestRun(500_000 + i);
  run.runId = `planted-run-${String(i).padStart(6, '0')}`;
  const copy = structuredClone(original.cells.at(-1));
  change(copy);
  if (one) run.cells.at(-1).iterations[1] = copy.iterations[2];
  else run.cells[run.cells.length - 1] = copy;
  run.clientSummaries = recompute(run);
  return { run, factor, iterations: one ? [[1, 2]] : copy.iterations.map((_, j) => [j, j]) };
}

/** Writes RUN into a dataset and gives its path there. */
export function store(folder, run, place = 'runs') {
  const name = `${place}/${run.createdAt.slice(0, 4)}/${run.createdAt.slice(5, 7)}/${run.runId}.json`;
  mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
  writeFileSync(path.join(folder, name), JSON.stringify(seal(run)));
  return name;
}

/** COUNT honest runs and PLANTED copies of some of them in FOLDER; the streams that stand twice, each as a string. */
export function plantArchive(folder, count, planted) {
  const kinds = Object.keys(DISGUISES), expected = [];
  const key = (run) => run.cells.at(-1).cellId;
  for (let i = 0; i < count; i++) {
    const original = honestRun(i), first = store(folder, original);
    if (i % Math.floor(count / planted) !== 0 || expected.runs === planted) continue;
    const n = expected.runs ?? 0;
    expected.runs = n + 1;
    const { run, factor, iterations } = plantedRun(n, original, kinds[n % kinds.length], n % 5 === 4);
    const second = store(folder, run);
    for (const [later, before] of iterations) {
      const [a, b] = [`${first} ${key(original)} ${before}`, `${second} ${key(run)} ${later}`];
      const earlier = `${original.createdAt} ${first}` < `${run.createdAt} ${second}`; // there are no lines
      expected.push({ pair: [a, b].sort().join(' = '), factor: earlier ? factor : 1 / factor });
    }
  }
  return expected;
}
