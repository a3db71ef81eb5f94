// Datasets of mutated runs in a plain folder, and what their index and board must be.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { checkBytes, digestOf, entryOf, readJson, scrub } from '../bench/baseline.mjs';
import { mutatedFile } from './mutate.mjs';

const HEADS = { platforms: ['Linux', 'Windows', 'Android', 'linux'], vendors: ['nvidia', 'intel'],
  models: ['RTX 3060', 'Adreno (TM) 650', 'Iris Xe', ''], browsers: ['Chrome', 'Firefox', 'Chr\u00f6me',
  '\u{1F600}', '\uffff'] };

/** A run that is accepted, with few enough devices that rows have several runs. */
function soundRun(random, i) {
  for (;;) {
    const bytes = mutatedFile(random, []);
    const { shapeErrors, error } = checkBytes('', bytes);
    if (error !== undefined || shapeErrors.length > 0) continue;
    const run = readJson(bytes);
    const { environment: env } = run;
    run.runId = `dataset-run-${String(i).padStart(4, '0')}`;
    if (random.chance(0.8)) {
      env.os.platform = random.pick(HEADS.platforms);
      env.gpu = { available: random.chance(0.8), vendor: random.pick(HEADS.vendors) };
      env.gpuModel = random.pick(HEADS.models);
      run.protocol = `localmode-bench/${random.pick([5, 5, 5, 4, 3, 12])}`;
    }
    if (random.chance(0.7)) env.browser.name = random.pick(HEADS.browsers);
    run.createdAt = `2026-0${1 + random.below(9)}-1${random.below(10)}T12:00:00Z`;
    scrub(run, '2026-01-01T00:00:00.000Z');
    run.digest = digestOf(run);
    if (checkBytes('', Buffer.from(JSON.stringify(run))).shapeErrors.length === 0) return run;
  }
}

const fatten = (run, random) => {
  run.harness.runtimeVersions = Object.fromEntries(Array.from({ length: 60 },
    (_, i) => [`package-${i}`, '\u00e9'.repeat(random.below(200))]));
  run.digest = digestOf(run);
};

/** Writes COUNT runs below FOLDER and gives their entries, which are of several KB when FAT. */
export function writeDataset(folder, random, count, { fat = false } = {}) {
  return Array.from({ length: count }, (_, i) => {
    const run = soundRun(random, i);
    if (fat) fatten(run, random);
    const text = JSON.stringify(run);
    const flagged = random.chance(0.15); // the folder decides, whatever the rules say
    const entry = entryOf(run, checkBytes('', Buffer.from(text)));
    entry.flagged = flagged;
    entry.path = entry.path.replace(/^[a-z]+/, flagged ? 'quarantine' : 'runs');
    const file = path.join(folder, entry.path);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return JSON.parse(JSON.stringify(entry));
  });
}
