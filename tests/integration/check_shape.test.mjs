// Every shape check of spec 02 through `check --json`: which pointers are refused, and what still passes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../support/checker.mjs';
import { makeRun, seal } from '../support/run.mjs';
import { brokenRun, completeRun, SHAPE_CASES } from '../support/shape_cases.mjs';

const pointers = ({ shapeErrors }) => shapeErrors.map(({ path }) => path).sort();

test('every shape error is told by its pointer and what is allowed is accepted', async (t) => {
  const { status, verdicts } = check(SHAPE_CASES.map((one) => JSON.stringify(brokenRun(one))));
  assert.equal(status, 2);
  for (const [i, one] of SHAPE_CASES.entries()) {
    await t.test(one.name, { todo: one.todo }, () => {
      const verdict = verdicts[i];
      assert.ok(verdict.shapeErrors, JSON.stringify(verdict));
      if (one.pointers) assert.deepEqual(pointers(verdict), [...one.pointers].sort());
      else assert.equal(verdict.shapeErrors.length, one.count);
      assert.equal(verdict.ok, false, 'the file carries no digest');
      for (const error of verdict.shapeErrors) {
        assert.deepEqual(Object.keys(error), ['path', 'message']);
        assert.ok(error.message.length > 0);
      }
      if (verdict.shapeErrors.length > 0) {
        assert.deepEqual(verdict.flags, []);
        assert.deepEqual(verdict.summaries, []);
      } else {
        assert.equal(verdict.summaries.length, brokenRun(one).cells.length);
      }
    });
  }
});

test('a complete run is publishable', () => {
  const { status, verdicts } = check([seal(completeRun())]);
  assert.equal(status, 0, JSON.stringify(verdicts));
});

test('archived protocols and schemas pass only when asked for', async (t) => {
  const cases = [ // protocol, schema, pointers, pointers with --any-protocol
    ['localmode-bench/5', 1, ['/schemaVersion'], []],
    ['localmode-bench/4', 3, ['/protocol'], []],
    ['localmode-bench/1', 1, ['/protocol', '/schemaVersion'], []],
    ['localmode-bench/12', 2, ['/protocol'], []],
    ['localmode-bench/999999999', 3, ['/protocol'], []],
    ['localmode-bench/5', 0, ['/schemaVersion'], ['/schemaVersion']],
    ['localmode-bench/5', 4, ['/schemaVersion'], ['/schemaVersion']],
    ...['localmode-bench/', 'localmode-bench/0', 'localmode-bench/05', 'localmode-bench/x', 'localmode-bench/5x',
      'localmode-bench/-1', 'localmode-bench/1.5', 'localmode-bench5', 'other/5', '5']
      .map((protocol) => [protocol, 3, ['/protocol'], ['/protocol']]),
  ];
  const contents = cases.map(([protocol, schemaVersion]) => seal({ ...makeRun(), protocol, schemaVersion }));
  const current = check(contents).verdicts.map(pointers);
  const archived = check(contents, ['--any-protocol']).verdicts.map(pointers);
  for (const [i, [protocol, schema, expected, expectedOfArchive]] of cases.entries()) {
    await t.test(`${protocol} with schema ${schema}`, () => {
      assert.deepEqual(current[i], expected);
      assert.deepEqual(archived[i], expectedOfArchive);
    });
  }
});
