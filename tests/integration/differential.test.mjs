// A short run of the differential test. The long one: node tests/fuzz/differential.mjs 100000
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { corpusFiles, NO_CORPUS } from '../support/corpus.mjs';
import { parting, tryFiles } from '../support/differential.mjs';

function agree(t, tally) {
  const { differences, ...counts } = tally;
  t.diagnostic(JSON.stringify(counts));
  assert.deepEqual(differences.map(({ command, expected, found }) => `${command} ${parting(expected, found)}`), []);
  assert.ok(counts.publishable + counts.flagged > counts.files / 4, 'enough files reach the rules');
  assert.ok(counts.refused > counts.files / 20, 'enough files are refused');
}

test('check, entry and scrub agree with the baseline on mutated runs', (t) => agree(t, tryFiles(240, 20260115)));

test('check, entry and scrub agree with the baseline on mutated real runs', { skip: NO_CORPUS }, (t) =>
  agree(t, tryFiles(60, 20260116, corpusFiles().map((file) => readFileSync(file, 'utf8')))));

test('a difference would be seen', () => {
  assert.match(parting('{"a":1,"b":2}', '{"a":1,"b":3}'), /^at 11\n {2}expected .*2}\n {2}found .*3}$/);
});
