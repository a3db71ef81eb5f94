// Rule sets under versions: what each raises, which one judges, and that a stored run stays judged by its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, run } from '../support/checker.mjs';
import { baseOf, RULE_CASES } from '../support/rule_cases.mjs';
import { RULE_CASES_3 } from '../support/rule_cases_3.mjs';
import { canonical, makeRun, seal, sha256 } from '../support/run.mjs';
import { command, readLedger, startService } from '../support/service.mjs';

const OWN = new Set(RULE_CASES_3.flatMap(({ flags }) => flags.map(([code]) => code)));
const brief = (flags) => flags.map(({ code, severity, cellId }) =>
  [code, severity, ...(cellId === undefined ? [] : [cellId])]);

test('set 3 holds every rule of set 2 as it is, and set 2 none of those of set 3', () => {
  const runs = RULE_CASES.map((one) => seal(baseOf(one)));
  const [usual, second, third] = [[], ['--rules', '2'], ['--rules=3']].map((options) => 
    check(runs, options).verdicts.map(({ file, ...verdict }) => verdict));
  for (const [i, verdict] of third.entries()) {
    assert.deepEqual(second[i], usual[i]);
    assert.equal(second[i].rulesVersion, 2);
    assert.deepEqual({ ...verdict, rulesVersion: 2, flags: verdict.flags.filter(({ code }) => !OWN.has(code)) }, second[i]);
    assert.equal(verdict.rulesVersion, 3);
  }
});

test('every clause that set 3 adds flags what breaks it and passes what just does not', async (t) => {
  const runs = RULE_CASES_3.map((one) => seal(baseOf(one)));
  const { verdicts } = check(runs, ['--rules', '3']);
  const before = check(runs).verdicts;
  for (const [i, one] of RULE_CASES_3.entries())
    await t.test(one.name, () => {
      assert.deepEqual(verdicts[i].shapeErrors, []);
      assert.deepEqual(brief(verdicts[i].flags.filter(({ code }) => OWN.has(code))), one.flags);
      assert.ok(before[i].flags.every(({ code }) => !OWN.has(code)));
      for (const { evidence, message } of verdicts[i].flags)
        assert.ok(Object.keys(evidence).length > 0 && message.length > 0);
    });
});

test('a set that there is none of is refused by its name', async () => {
  for (const version of ['0', '1', '4', '02', '2x', ''])
    assert.equal(run(['check', '--rules', version, 'x.json']).status, 64, version);
  for (const version of ['1', '4']) {
    const { code, stderr } = await command(['serve', '--check-config', '--rules', version]);
    assert.equal(code, 2);
    assert.match(stderr, /rules: .* from 2 to 3/);
  }
});

test('what is configured judges, and a stored run stays judged by the set of its line in the ledger', async (t) => {
  const service = await startService(t, { config: { rules: 3 } });
  const short = { ...makeRun({ id: 'judged-by-three', iterations: 2 }) };
  const { body } = await service.submit(short);
  assert.deepEqual([body.rulesVersion, body.flagged, body.flags.map(({ code }) => code)], [3, false,
    ['few-iterations', 'few-iterations'].slice(0, body.flags.length)]);
  assert.ok(body.flags.length > 0);
  const dry = await service.json('/api/bench/validate', { method: 'POST', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(seal(short)) });
  assert.deepEqual([dry.body.rulesVersion, dry.body.flags], [3, body.flags]);
  assert.equal(readLedger(service, { canonical, sha256 }).at(-1).rules, 3);
  const text = async (place) => (await service.fetch(place)).text();
  assert.match(await text('/metrics'), /build_info\{[^}]*rules="3"\} 1/);
  assert.match(await text('/methodology/localmode-bench/5'), /set 3<\/h2>[^]*id="few-iterations"/);
  assert.match(await text('/check'), /data-rule="few-iterations"/);
  assert.match(await text('/check'), /or rule set than the validator/);
  await service.stop();
  await service.restart({ config: {} });
  const status = (await service.json('/api/bench/runs/judged-by-three')).body;
  assert.deepEqual([status.rulesVersion, status.flags], [3, body.flags]);
  const page = await text('/run/judged-by-three');
  assert.match(page, /Judged by rule set 3/);
  assert.match(page, /few-iterations[^]*What to do:/);
  assert.match(await text('/metrics'), /rules="2"\} 1/);
  assert.doesNotMatch(await text('/methodology/localmode-bench/5'), /few-iterations/);
  assert.doesNotMatch(await text('/check'), /few-iterations|or rule set than/);
  const again = await service.submit(makeRun({ id: 'judged-by-two', iterations: 2, seed: 2 }));
  assert.deepEqual([again.body.rulesVersion, again.body.flags], [2, []]);
});
