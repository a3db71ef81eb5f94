// Plain Node code that judges run files as the specification says: the speed baseline of the
// benchmarks and the oracle of the differential tests. Written from the specification, not from the C code.
//
//   node tests/bench/baseline.mjs FILE...     one JSON object a line, as `benchledger check --json --any-protocol`
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { digestState, InvalidJson, readJson } from './baseline/json.mjs';
import { entry } from './baseline/publish.mjs';
import { recompute } from './baseline/recompute.mjs';
import { judge, RULES_VERSION } from './baseline/rules.mjs';
import { checkShape } from './baseline/shape.mjs';

export * from './baseline/json.mjs';
export * from './baseline/answers.mjs';
export * from './baseline/recompute.mjs';
export * from './baseline/rules.mjs';
export * from './baseline/shape.mjs';
export * from './baseline/publish.mjs';
export * from './baseline/board.mjs';

export const defaultKey = JSON.parse(readFileSync(new URL('../../server/data/tinymmlu-key.json', import.meta.url),
  'utf8'));

export function verdict(run, { file = '', anyProtocol = true, key = defaultKey } = {}) {
  const digest = digestState(run);
  const shapeErrors = checkShape(run, { anyProtocol });
  const summaries = shapeErrors.length > 0 ? [] : recompute(run);
  const flags = shapeErrors.length > 0 ? [] : judge(run, summaries, key);
  const ok = shapeErrors.length === 0 && !isQuarantined(flags) && (digest === 'ok' || digest === 'legacy');
  return { file, ok, digest, shapeErrors, flags, summaries, rulesVersion: RULES_VERSION };
}

export const isQuarantined = (flags) => flags.some(({ severity }) => severity === 'reject');

export const entryOf = (run, { summaries, flags }) => entry(run, summaries, isQuarantined(flags));

export function checkBytes(file, bytes, options) {
  try {
    return verdict(readJson(bytes), { file, ...options });
  } catch (error) {
    if (!(error instanceof InvalidJson)) throw error;
    return { file, ok: false, error: `is not JSON: ${error.message}` };
  }
}

function main(files) {
  for (const file of files) {
    let bytes;
    try {
      bytes = readFileSync(file);
    } catch (error) {
      console.log(JSON.stringify({ file, ok: false, error: `cannot be read: ${error.message}` }));
      continue;
    }
    console.log(JSON.stringify(checkBytes(file, bytes)));
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) main(process.argv.slice(2));
