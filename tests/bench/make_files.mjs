// Writes made-up runs of the two sizes that the benchmarks use: run-70k.json and run-1400k.json.
// Usage: node tests/bench/make_files.mjs FOLDER
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeRun, seal } from '../support/run.mjs';

const SIZES = [['run-70k.json', 70_000], ['run-1400k.json', 1_400_000]];

/** Grows the streams (and the number of iterations, texts are limited) until the file has its size. */
export function makeFile(size, seed = 1) {
  let best;
  for (let iterations = 3; ; iterations += Math.ceil(iterations / 2)) {
    for (let chunks = 100; chunks <= 3000; chunks = Math.ceil(chunks * 1.1)) {
      best = JSON.stringify(seal(makeRun({ id: `bench-run-${size}-${seed}`, seed, iterations, chunks })));
      if (best.length >= size) return best;
    }
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname)
  for (const [name, size] of SIZES) writeFileSync(path.join(process.argv[2], name), makeFile(size));
