// Every clause of rule set 2 through `check --json`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RULES_VERSION } from '../bench/baseline/rules.mjs';
import { recompute } from '../bench/baseline.mjs';
import { check, run } from '../support/checker.mjs';
import { baseOf, RULE_CASES } from '../support/rule_cases.mjs';
import { makeRun, seal } from '../support/run.mjs';

const brief = (flags) => flags.map(({ code, severity, cellId }) =>
  [code, severity, ...(cellId === undefined ? [] : [cellId])]);

test('every clause of every rule flags what breaks it and passes what just does not', async (t) => {
  const { status, verdicts } = check(RULE_CASES.map((one) => seal(baseOf(one))));
  assert.equal(status, 1, 'the worst file is quarantined');
  for (const [i, one] of RULE_CASES.entries()) {
    await t.test(one.name, () => {
      const verdict = verdicts[i];
      assert.deepEqual(verdict.shapeErrors, []);
      assert.equal(verdict.digest, 'ok');
      assert.deepEqual(brief(verdict.flags), one.flags);
      assert.equal(verdict.ok, !one.flags.some(([, severity]) => severity === 'reject'));
      assert.equal(verdict.rulesVersion, RULES_VERSION);
      assert.equal(JSON.stringify(verdict.summaries), JSON.stringify(recompute(baseOf(one))));
      for (const flag of verdict.flags) {
        assert.deepEqual(Object.keys(flag), ['code', 'severity', ...('cellId' in flag ? ['cellId'] : []),
          'message', 'evidence']);
        assert.ok(flag.message.length > 0);
        assert.equal(typeof flag.evidence, 'object');
      }
    });
  }
});

test('a single file gives the exit code of its verdict', async (t) => {
  const codes = [
    ['publishable', 0, []],
    ['a warning only', 0, [['timer-grid', 'warn']]],
    ['quarantined', 1, [['fingerprint-missing', 'reject']]],
  ];
  for (const [name, status, flags] of codes) {
    await t.test(name, () => {
      const one = RULE_CASES.find((candidate) => JSON.stringify(candidate.flags.map((flag) =>
        flag.slice(0, 2))) === JSON.stringify(flags));
      assert.equal(check([seal(baseOf(one))]).status, status);
    });
  }
  const good = seal(makeRun());
  const cases = {
    'a wrong digest is refused': [[{ ...good, digest: good.digest.replace(/^./, (c) => (c === '0' ? '1' : '0')) }],
      2],
    'a digest in capitals is refused': [[{ ...good, digest: good.digest.toUpperCase() }], 2],
    'a missing digest is refused': [[(({ digest, ...rest }) => rest)(good)], 2],
    'a shape error is refused': [[seal({ ...makeRun(), suite: 'odd' })], 2],
    'text that is no JSON cannot be read': [['{"a":'], 3],
    'the worst file decides': [[good, '{', seal({ ...makeRun(), suite: 'odd' })], 3],
    'refused is worse than quarantined': [[seal({ ...makeRun(), fingerprint: null }),
      seal({ ...makeRun(), suite: 'odd' }), good], 2],
  };
  for (const [name, [contents, status]] of Object.entries(cases)) {
    await t.test(name, () => assert.equal(check(contents).status, status));
  }
  await t.test('a missing file cannot be read', () => {
    const { status, stdout } = run(['check', '--json', 'no-such-file.json']);
    assert.equal(status, 3);
    const verdict = JSON.parse(stdout);
    assert.deepEqual(Object.keys(verdict), ['file', 'ok', 'error']);
    assert.equal(verdict.ok, false);
  });
});

test('the digest is told apart as ok, legacy, missing and mismatch', () => {
  const base = makeRun();
  const sealed = seal(base, 'a-nonce');
  const legacy = seal(base, 'a-nonce', { legacy: true });
  const { digest, ...without } = sealed;
  const { verdicts } = check([seal(base), sealed, legacy, without, { ...sealed, digest: '0'.repeat(64) },
    { ...legacy, nonce: 'another' }, { ...sealed, nonce: 'another' }]);
  assert.deepEqual(verdicts.map((verdict) => verdict.digest), ['ok', 'ok', 'legacy', 'missing', 'mismatch',
    'mismatch', 'ok']);
  assert.deepEqual(verdicts.map((verdict) => verdict.ok), [true, true, true, false, false, false, true]);
});
