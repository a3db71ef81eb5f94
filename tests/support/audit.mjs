// `benchledger audit` over a dataset.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { BINARY, command } from './service.mjs';

/** {code, found: [{code, note, path, text}], counts}. */
export async function audit(dataset, ...args) {
  const { code, stdout, stderr } = await command(['audit', '--json', ...args, dataset]);
  assert.notEqual(stdout, '', stderr);
  const lines = stdout.trimEnd().split('\n').map((line) => JSON.parse(line));
  return { code, found: lines.slice(0, -1), counts: lines.at(-1) };
}

/** The dataset agrees with itself, all of RUNS files of it when that is given. */
export async function auditClean(dataset, runs) {
  const { code, found, counts } = await audit(dataset);
  assert.deepEqual(found, []);
  assert.equal(code, 0);
  if (runs !== undefined) assert.equal(counts.files, runs);
  return counts;
}

/** The same at once: what our own service makes is never at odds with itself. */
export function assertSound(dataset) {
  const { status, stdout, stderr } = spawnSync(BINARY, ['audit', dataset], { encoding: 'utf8' });
  assert.equal(status, 0, `${stdout}${stderr}`);
  const notes = stdout.trimEnd().split('\n').slice(0, -1);
  assert.ok(notes.every((line) => /^note +leaderboard .* from before a decision$/.test(line)), stdout);
}
