// Compares check, entry and scrub with the baseline over random changes of run files:
//   BENCHLEDGER_BINARY=... node tests/fuzz/differential.mjs [COUNT [SEED [FOLDER]]]
// Files that differ are kept in FOLDER, when one is named.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { corpusFiles } from '../support/corpus.mjs';
import { parting, tryFiles } from '../support/differential.mjs';

const count = Number(process.argv[2] ?? 10_000);
const seed = Number(process.argv[3] ?? Date.now() % 4294967296);
const kept = process.argv[4];
let told = 0;
let shown = 0;
const tally = tryFiles(count, seed, corpusFiles().map((file) => readFileSync(file, 'utf8')),
  ({ files, differences }) => {
  for (const { command, bytes, expected, found } of differences.slice(told)) {
    if (kept) {
      mkdirSync(kept, { recursive: true });
      writeFileSync(path.join(kept, `${told}.json`), bytes);
    }
    if (told++ < 40) console.log(`${told - 1} ${command} differs ${parting(expected, found)}`);
  }
  if (files - shown >= 5000) console.log(`${shown = files} files, ${differences.length} differences`);
});
const { differences, ...counts } = tally;
console.log(JSON.stringify({ seed, ...counts, differences: differences.length }));
process.exitCode = differences.length > 0 ? 1 : 0;
