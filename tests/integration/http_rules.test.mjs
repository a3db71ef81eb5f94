// The tables of rules and shape checks through POST /api/bench/submit against the real server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RULES_VERSION } from '../bench/baseline/rules.mjs';
import { baseOf, RULE_CASES } from '../support/rule_cases.mjs';
import { canonical, seal, sha256 } from '../support/run.mjs';
import { readLedger, startService } from '../support/service.mjs';
import { brokenRun, SHAPE_CASES } from '../support/shape_cases.mjs';

const AT_ONCE = 16;
const brief = (flags) => flags.map(({ code, severity, cellId }) =>
  [code, severity, ...(cellId === undefined ? [] : [cellId])]);

/** Submits a run for each case, several at a time, and gives the answers in order. */
async function submitAll(service, runs) {
  const answers = [];
  let next = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < runs.length) {
      const i = next++;
      answers[i] = await service.post(seal(runs[i], await service.nonce()));
    }
  }));
  return answers;
}

test('every clause of every rule publishes or quarantines through HTTP', async (t) => {
  const service = await startService(t);
  const runs = RULE_CASES.map((one, i) => baseOf(one, { id: `rule-case-${i}` }));
  const answers = await submitAll(service, runs);
  const files = new Set(service.files());
  const index = new Map(JSON.parse(service.file('index/summary.json')).map((entry) => [entry.runId, entry]));
  const ledger = new Map(readLedger(service, { canonical, sha256 }).map((event) => [event.runId, event]));
  for (const [i, one] of RULE_CASES.entries()) {
    await t.test(one.name, () => {
      const { status, body } = answers[i];
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(brief(body.flags), one.flags);
      const flagged = one.flags.some(([, severity]) => severity === 'reject');
      assert.equal(body.flagged, flagged);
      assert.equal(body.path, `${flagged ? 'quarantine' : 'runs'}/2026/01/rule-case-${i}.json`);
      assert.ok(files.has(body.path));
      assert.equal(index.get(`rule-case-${i}`).flagged, flagged);
      const event = ledger.get(`rule-case-${i}`);
      assert.deepEqual([...new Set(event.flags)], [...new Set(one.flags.map(([code]) => code))]);
      assert.deepEqual([event.path, event.rules], [body.path, RULES_VERSION]);
    });
  }
});

test('every shape error is answered with its pointer and stores nothing; what is allowed is stored', async (t) => {
  const service = await startService(t);
  const cases = SHAPE_CASES.filter((one) => !('replace' in one)); // these end before the shape: they have no nonce
  const runs = cases.map((one, i) => {
    const run = brokenRun(one);
    if (run.runId === brokenRun({ mutate() {} }).runId) run.runId = `shape-case-${i}`;
    return run;
  });
  const answers = await submitAll(service, runs);
  const stored = service.files().filter((name) => /^(runs|quarantine)\//.test(name));
  assert.equal(stored.length, answers.filter(({ status }) => status === 200).length);
  for (const [i, one] of cases.entries()) {
    await t.test(one.name, { todo: one.todo }, () => {
      const { status, body } = answers[i];
      if (one.pointers?.length === 0) {
        assert.equal(status, 200, JSON.stringify(body));
        assert.ok(stored.includes(body.path));
        return;
      }
      assert.equal(status, 400, JSON.stringify(body));
      assert.equal(body.ok, false);
      assert.equal(body.code, 'invalid-shape');
      if (one.pointers) assert.deepEqual(body.errors.map(({ path }) => path).sort(), [...one.pointers].sort());
      else assert.equal(body.errors.length, one.count);
    });
  }
});
