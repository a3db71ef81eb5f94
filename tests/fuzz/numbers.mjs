// Compares number reading and printing with Node for as long as wanted:
//   BENCHLEDGER_BINARY=... node tests/fuzz/numbers.mjs [COUNT [SEED]]
import { tryRandom } from '../support/numbers.mjs';

const count = Number(process.argv[2] ?? 5_000_000);
const seed = Number(process.argv[3] ?? Date.now() % 4294967296);
let shown = 0;
const wrong = tryRandom(count, seed, (done, failed) => {
  if (done - shown < 1_000_000 && done < count) return;
  shown = done;
  console.log(`${done} numbers, ${failed} differ`);
});
for (const { text, found, expected } of wrong.slice(0,
  20)) console.log(`${text}: ${found} where Node prints ${expected}`);
console.log(`seed ${seed}`);
process.exitCode = wrong.length > 0 ? 1 : 0;
