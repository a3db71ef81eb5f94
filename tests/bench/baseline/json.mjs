// Reading, canonical form and digest (spec 01), with what Node has built in.
import { createHash } from 'node:crypto';

export const DEPTH_MAX = 128;

export class InvalidJson extends Error {}

// JSON.parse decides; what it lets through and the specification does not is looked for afterwards.
// (A number or a depth that a later repetition of its key replaces is not seen here any more.)
export function readJson(bytes) {
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes); // skips one leading BOM
  } catch {
    throw new InvalidJson('is not UTF-8');
  }
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidJson(error.message);
  }
  inspect(value, 1);
  return value;
}

function inspect(value, depth) {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new InvalidJson('number out of range');
    return;
  }
  if (value === null || typeof value !== 'object') return;
  if (depth > DEPTH_MAX) throw new InvalidJson('nested too deeply');
  for (const item of Array.isArray(value) ? value : Object.values(value)) inspect(item, depth + 1);
}

export function canonical(value, omit) {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item)).join(',')}]`;
  const members = [];
  for (const key of Object.keys(value).sort()) { // UTF-16 code units, as sort() compares
    if (omit?.includes(key)) continue;
    members.push(`${JSON.stringify(key)}:${canonical(value[key])}`);
  }
  return `{${members.join(',')}}`;
}

export const sha256 = (text) => createHash('sha256').update(text, 'utf8').digest('hex');

export const digestOf = (run) => sha256(canonical(run, ['digest', 'nonce']));

// `ok`, `legacy` (a digest that still covers the nonce), `missing` or `mismatch`.
export function digestState(run) {
  if (run === null || typeof run !== 'object' || !Object.hasOwn(run, 'digest')) return 'missing';
  if (run.digest === digestOf(run)) return 'ok';
  if (Object.hasOwn(run, 'nonce') && run.digest === sha256(canonical(run, ['digest']))) return 'legacy';
  return 'mismatch';
}
