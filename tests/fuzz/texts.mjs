// Compares reader, canonical form and printer with Node over random JSON texts, sound and broken:
//   BENCHLEDGER_BINARY=... node tests/fuzz/texts.mjs [COUNT [SEED]]
import { tryTexts } from '../support/texts.mjs';

const count = Number(process.argv[2] ?? 1_000_000);
const seed = Number(process.argv[3] ?? Date.now() % 4294967296);
let told = 0;
let shown = 0;
const { differences, ...counts } = tryTexts(count, seed, (tally) => {
  for (const { what, text } of tally.differences.slice(told,
    20)) console.log(`${told++} ${what}: ${JSON.stringify(text.slice(0, 2000))}`);
  if (tally.texts - shown >= 100_000) console.log(`${shown = tally.texts} texts, ${tally.differences.length} differences`);
});
console.log(JSON.stringify({ seed, ...counts, differences: differences.length }));
process.exitCode = differences.length > 0 ? 1 : 0;
