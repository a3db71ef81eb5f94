// Numbers are read and printed as ECMAScript does it. The long run: node tests/fuzz/numbers.mjs 5000000
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Folder } from '../support/checker.mjs';
import { differing, landmarks, tryRandom } from '../support/numbers.mjs';

const folder = new Folder();
after(() => folder.close());

test('powers of two and ten and their neighbours, of both signs', (t) => {
  const values = [...landmarks()];
  t.diagnostic(`${values.length} numbers, each in four forms`);
  for (const form of [String, (x) => x.toPrecision(17), (x) => x.toExponential(20), (x) => x.toExponential(40)])
    assert.deepEqual(differing(values.map(form), folder), []);
});

test('200,000 random numbers in many forms', () => {
  assert.deepEqual(tryRandom(200_000, 20260115), []);
});

test('a difference would be seen', () => {
  const all = differing(['1', '2.50', '1e5'], { write: () => folder.write('other.json', '{"a":[1,2.4,100000]}') });
  assert.deepEqual(all, [{ text: '2.50', found: '2.4', expected: '2.5' }]);
});
