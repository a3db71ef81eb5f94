// Rule sets under versions: what each raises, which one judges, and that a stored run stays judged by its own.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { check, Folder, run } from '../support/checker.mjs';
import { baseOf, RULE_CASES } from '../support/rule_cases.mjs';
import { baseOf3, CATALOGUE, RULE_CASES_3 } from '../support/rule_cases_3.mjs';
import { canonical, makeRun, seal, sha256 } from '../support/run.mjs';
import { command, readLedger, startService } from '../support/service.mjs';

const OWN = new Set(['created-far-from-acceptance', 'unknown-name', 'size-looser-envelope',
  ...RULE_CASES_3.flatMap(({ flags }) => flags.map(([code]) => code))]);
const folder = new Folder();
after(() => folder.close());
const catalogue_file = folder.write('catalogue.json', CATALOGUE);
const THREE = ['--rules', '3', '--catalogue', catalogue_file];

const brief = (flags) => flags.map(({ code, severity, cellId }) =>
  [code, severity, ...(cellId === undefined ? [] : [cellId])]);

test('set 3 holds every rule of set 2 as it is, and set 2 none of those of set 3', () => {
  const runs = RULE_CASES.map((one) => seal(baseOf(one)));
  const [usual, second, third] = [[], ['--rules', '2'], THREE].map((options) => 
    check(runs, options).verdicts.map(({ file, ...verdict }) => verdict));
  for (const [i, verdict] of third.entries()) {
    assert.deepEqual(second[i], usual[i]);
    assert.equal(second[i].rulesVersion, 2);
    assert.deepEqual({ ...verdict, rulesVersion: 2, flags: verdict.flags.filter(({ code }) => !OWN.has(code)) }, second[i]);
    assert.equal(verdict.rulesVersion, 3);
  }
});

test('every clause that set 3 adds flags what breaks it and passes what just does not', async (t) => {
  const runs = RULE_CASES_3.map((one) => seal(baseOf3(one)));
  const { verdicts } = check(runs, THREE);
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
  const service = await startService(t, { config: { rules: 3, catalogue_file } });
  const now = new Date().toISOString();
  const short = baseOf3({ mutate(one) { one.cells[0].iterations.length = 2; } }, { id: 'judged-by-three', createdAt: now });
  const { body } = await service.submit(short);
  assert.deepEqual([body.rulesVersion, body.flagged, body.flags.map(({ code }) => code)], [3, false,
    ['few-iterations']]);
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
  await service.restart({ config: { catalogue_file } });
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

test('a run that was made long before or after it comes in is warned of, by the time of its acceptance', async (t) => {
  const service = await startService(t, { config: { rules: 3, catalogue_file } });
  const day = 86_400_000;
  const flags = [];
  for (const [i, days] of [-13.9, -14.1, 0.9, 1.1].entries()) {
    const run = baseOf3({ mutate() {} }, { id: `made-at-${i}-days`, createdAt: new Date(Date.now() + days * day).toISOString() });
    const { body } = await service.submit(run);
    flags.push(body.flags.map(({ code }) => code));
    const stored = (await service.json(`/api/bench/runs/made-at-${i}-days`)).body;
    assert.deepEqual(stored.flags.map(({ code }) => code), flags.at(-1), 'judged again by the time in the ledger');
    for (const { evidence } of stored.flags) {
      assert.equal(evidence.acceptedAt, stored.submittedAt);
      assert.ok(Math.abs(evidence.hours + days * 24) < 0.1);
    }
  }
  assert.deepEqual(flags, [[], ['created-far-from-acceptance'], [], ['created-far-from-acceptance']]);
});

const LLM = 'webllm/smollm2-135m/chat-pp128-tg128';

test('a name that the catalogue does not have is held for review, and its field is told', async (t) => {
  const llm = (one) => one.cells.find(({ cellId }) => cellId === LLM);
  const cases = {
    runtimeId: (one) => { llm(one).runtimeId = 'webllm '; },
    workloadId: (one) => { llm(one).workloadId = 'chat-pp128-tg129'; },
    benchModelId: (one) => { llm(one).model.benchModelId = 'smollm2-1350m'; },
    displayName: (one) => { llm(one).model.displayName = 'SmolLM2 13'; },
  };
  const names = { runtimeId: 'webllm ', workloadId: 'chat-pp128-tg129', benchModelId: 'smollm2-1350m', displayName: 'SmolLM2 13' };
  const runs = Object.values(cases).map((mutate) => seal(baseOf3({ mutate: (one) => { mutate(one); one.suite = 'custom'; } })));
  const { status, verdicts } = check(runs, THREE);
  assert.equal(status, 1);
  for (const [i, field] of Object.keys(cases).entries())
    await t.test(field, () => {
      assert.deepEqual(brief(verdicts[i].flags), [['unknown-name', 'reject', LLM]]);
      assert.deepEqual(verdicts[i].flags[0].evidence, { field, name: names[field] });
    });
  const invalid = seal(baseOf3({ mutate: (one) => {
    Object.assign(llm(one), { runtimeId: 'other', status: 'invalid' });
    one.suite = 'custom';
  } }));
  assert.deepEqual(check([invalid], THREE).verdicts[0].flags, [], 'a cell that is not ok is nothing that is shown');
  assert.deepEqual(check([runs[0]]).verdicts[0].flags, [], 'set 2 knows no catalogue');
});

test('a size below every build that reaches a looser envelope is held for review', () => {
  const models = CATALOGUE.models.map((model) => ({ ...model, ...(model.benchModelId === 'smollm2-135m' && { smallestBytes: 600_000_000 }) }));
  const own = folder.write('larger.json', { ...CATALOGUE, models });
  const sized = (sizeBytes) => seal(baseOf3({ mutate: (one) => {
    for (const cell of one.cells) if (cell.cellId === LLM) cell.model.sizeBytes = sizeBytes;
  } }));
  const { verdicts } = check([500_000_000, 500_000_001, 600_000_000, undefined].map(sized), ['--rules=3', `--catalogue=${own}`]);
  assert.deepEqual(verdicts.map(({ flags }) => brief(flags)), [[['size-looser-envelope', 'reject', LLM]], [], [], []]);
  assert.deepEqual(verdicts[0].flags[0].evidence, { sizeBytes: 500_000_000, smallest: 600_000_000 });
});

test('a catalogue that is none is refused with the reason, offline and by serve', async () => {
  const file = folder.write('run.json', seal(baseOf3({ mutate() {} })));
  const broken = {
    'is no array': { ...CATALOGUE, runtimes: 'webllm' },
    '`workloads`': { ...CATALOGUE, workloads: [''] },
    '`models`': { ...CATALOGUE, models: [{ benchModelId: 'a', displayName: 'A', smallestBytes: 0 }] },
    '2,000': { ...CATALOGUE, workloads: Array(2001).fill('a') },
    'JSON|expected|value': '{',
  };
  for (const [word, content] of Object.entries(broken)) {
    const name = folder.write('broken.json', content);
    const offline = run(['check', '--rules=3', `--catalogue=${name}`, file]);
    assert.equal(offline.status, 3, word);
    assert.match(offline.stderr, /broken\.json: /);
    const served = await command(['serve', '--check-config', '--catalogue-file', name]);
    assert.equal(served.code, 2);
    if (word.includes('|')) continue;
    assert.ok(offline.stderr.includes(word) && served.stderr.includes(word), word);
  }
  assert.equal(run(['check', '--catalogue', 'no-such-file', file]).status, 3);
  assert.equal(run(['check', '--rules=3', `--catalogue=${catalogue_file}`, file]).status, 0);
});
