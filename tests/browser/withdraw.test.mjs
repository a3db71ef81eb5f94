// Taking a run back: the code is made and kept by client.js, offered by /check, and known to nobody else.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { makeRun, seal, sha256 } from '../support/run.mjs';
import { startService } from '../support/service.mjs';
import { accessibility, openPage, overflow, screenshot, settled, startBrowser } from './support/browser.mjs';

let service;
before(async (t) => { service = await startService(t); });

async function openCheck(t, options = {}) {
  const page = await openPage(t, await startBrowser(t), { viewport: { width: 1280, height: 900 }, ...options });
  await page.goto(`${service.base}/check`);
  await page.waitForSelector('#check:not([hidden])');
  return page;
}

const inPage = (page, work, value) => page.evaluate(`import('/client.js').then((client) => (${work})(client, ${JSON.stringify(value)}))`);
const status = async (id) => (await service.json(`/api/bench/runs/${id}`)).body;
const said = (page, text) => page.waitForFunction((words) => document.querySelector('#withdraw [role=status]').textContent.includes(words), text);

test('a run that was submitted on /check is taken back with the code that the page kept', async (t) => {
  const page = await openCheck(t);
  const run = seal(makeRun({ id: 'taken-back-1', seed: 1 }));
  await page.setInputFiles('#check-files', [{ name: 'run.json', mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(run)) }]);
  await page.click('text=Submit this run');
  await page.waitForSelector('text=The run is published.');
  const code = await page.locator('code.withdraw-code').textContent();
  assert.match(code, /^[A-Za-z0-9_-]{43}$/);
  assert.deepEqual(await inPage(page, '(client) => client.withdrawCodes()'),
    [{ service: `${service.base}/`, runId: 'taken-back-1', code }]);
  const line = service.file(service.files().find((name) => name.startsWith('ledger/'))).toString();
  assert.equal(JSON.parse(line.split('\n')[0]).withdrawSha256, sha256(code));
  assert.ok(!line.includes(code));

  await page.reload();
  await page.waitForSelector('#withdraw:not([hidden])');
  assert.match(await page.locator('#withdraw').innerText(), /public git history keeps/);
  await page.getByRole('button', { name: 'Fill in the code of run taken-back-1' }).press('Enter');
  assert.equal(await page.locator('#withdraw-code').inputValue(), code);
  assert.equal(await page.locator('#withdraw-code').getAttribute('type'), 'password');
  await accessibility(page);
  await screenshot(page, 'withdraw');
  await page.keyboard.press('Enter'); // the button has the focus
  await said(page, 'off the board');
  assert.equal((await status('taken-back-1')).status, 'withdrawn');
  assert.equal((await service.json('/api/bench/leaderboard')).body.runs, 0);
  await page.click('#withdraw form button');
  await said(page, 'taken back before');
  await page.fill('#withdraw-run', 'nobody-knows');
  await page.click('#withdraw form button');
  await said(page, 'No run with this id');
  await page.fill('#withdraw-run', 'taken-back-1');
  await page.fill('#withdraw-code', 'x'.repeat(43));
  await page.click('#withdraw form button');
  await said(page, 'not the code');
  page.complaints = page.complaints.filter((text) => !/status of 40[349]/.test(text)); // the three refusals
  await settled(page);
});

test('the form of a phone fits it', async (t) => {
  const page = await openCheck(t, { viewport: { width: 320, height: 700 } });
  assert.deepEqual(await overflow(page), []);
});

test('a code outlives a lost answer, and is the same at the next try', async (t) => {
  const page = await openCheck(t);
  let lost = 0;
  await page.route('**/api/bench/submit', async (route) => {
    if (lost++) return route.continue();
    await route.fetch(); // the service takes it, the page does not hear so
    return route.abort();
  });
  const result = await inPage(page, '(client, run) => client.submit(run, { backoffMs: 10 })', makeRun({ id: 'lost-answer-1', seed: 2 }));
  assert.equal(result.recovered, true);
  assert.equal(result.outcome, 'published');
  const answer = await inPage(page, '(client, id) => client.withdraw(id)', 'lost-answer-1');
  assert.equal(answer.path, 'withdrawn/2026/01/lost-answer-1.json');
  assert.equal(result.withdrawCode, (await inPage(page, '(client) => client.withdrawCodes()')).at(-1).code);
});

test('one may bring an own code or none, and a run that others brought gives none', async (t) => {
  const page = await openCheck(t);
  const own = 'o'.repeat(43);
  const first = await inPage(page, `(client, run) => client.submit(run, { withdrawCode: '${own}' })`, makeRun({ id: 'own-code-1', seed: 3 }));
  assert.equal(first.withdrawCode, own);
  const none = await inPage(page, '(client, run) => client.submit(run, { withdrawCode: null })', makeRun({ id: 'no-code-1', seed: 4 }));
  assert.equal(none.withdrawCode, null);
  const refused = await inPage(page, "(client, id) => client.withdraw(id, { code: 'x'.repeat(43) }).catch(({ code }) => code)", 'no-code-1');
  assert.equal(refused, 'forbidden');
  assert.equal(await inPage(page, '(client, id) => client.withdraw(id).catch(({ code }) => code)', 'no-code-1'), 'forbidden');
  const again = await inPage(page, '(client, run) => client.submit(run)', makeRun({ id: 'no-code-1', seed: 4 }));
  assert.equal(again.duplicate, true);
  assert.equal(again.withdrawCode, null, 'it would take back nothing');
  assert.equal((await inPage(page, '(client, id) => client.withdraw(id)', 'own-code-1')).ok, true);
});

const codesOf = (page) => inPage(page, '(client) => client.withdrawCodes().map(({ runId }) => runId)');
const refusal = (page, run, options = '{}') =>
  inPage(page, `(client, run) => client.submit(run, ${options}).catch(({ code, message }) => code + ': ' + message)`, run);

test('a refused run leaves no code, and pushes out none that is of use', async (t) => {
  const page = await openCheck(t);
  await page.evaluate((service) => localStorage.setItem('benchledger-withdraw-codes', JSON.stringify(Array.from({ length: 500 },
    (_, i) => ({ service, runId: `older-run-${i}`, code: 'k'.repeat(43) })))), `${service.base}/`);
  const wrong = { ...makeRun({ id: 'wrong-shape-1', seed: 5 }), suite: 'none' };
  for (let i = 0; i < 2; i++) assert.match(await refusal(page, wrong), /^invalid-shape/);
  assert.deepEqual([(await codesOf(page)).length, (await codesOf(page))[0]], [500, 'older-run-0']);
  const other = { ...makeRun({ id: 'older-run-7', seed: 6 }), suite: 'none' };
  assert.match(await refusal(page, other, "{ withdrawCode: 'n'.repeat(43) }"), /^invalid-shape/);
  assert.equal(await inPage(page, "(client) => client.withdrawCodes().find(({ runId }) => runId === 'older-run-7').code"), 'k'.repeat(43));
  page.complaints = page.complaints.filter((text) => !/status of 400/.test(text));
  await settled(page);
});

test('a run that somebody else brought gives no code, however often it is submitted', async (t) => {
  const page = await openCheck(t);
  const run = makeRun({ id: 'of-others-1', seed: 7 });
  assert.equal((await service.submit(run)).status, 200);
  for (let i = 0; i < 2; i++) {
    const again = await inPage(page, '(client, run) => client.submit(run)', run);
    assert.deepEqual([again.duplicate, again.withdrawCode], [true, null]);
  }
  assert.ok(!(await codesOf(page)).includes('of-others-1'));
  const own = makeRun({ id: 'of-mine-1', seed: 8 });
  const first = await inPage(page, '(client, run) => client.submit(run)', own);
  assert.equal((await inPage(page, '(client, run) => client.submit(run)', own)).withdrawCode, first.withdrawCode, 'that of the first time');
});

test('a code of another form is refused before anything is sent, and without WebCrypto there is none', async (t) => {
  const page = await openCheck(t);
  for (const code of ["''", "'x'", "'x'.repeat(44)", "'x'.repeat(42) + '+'", '7'])
    assert.match(await refusal(page, makeRun({ id: 'odd-code-1', seed: 9 }), `{ withdrawCode: ${code} }`), /^bad-request: .*43 characters/);
  assert.equal((await service.json('/api/bench/runs/odd-code-1')).status, 404);
  await page.evaluate(() => Object.defineProperty(crypto, 'subtle', { value: undefined }));
  const result = await inPage(page, "(client, run) => client.submit(run, { withdrawCode: 'o'.repeat(43) })", makeRun({ id: 'insecure-1', seed: 10 }));
  assert.deepEqual([result.outcome, result.withdrawCode], ['published', null]);
  assert.ok(!(await codesOf(page)).includes('insecure-1'));
});

test('every answer to a withdrawal is told in words', async (t) => {
  const page = await openCheck(t);
  let answer;
  await page.route('**/api/bench/withdraw', (route) => route.fulfill(answer));
  for (const [status, json, words] of [[202, { ok: true, queued: true }, 'leaves the board when the dataset has it'],
    [409, { code: 'stale-review' }, 'Something else is being decided'], [422, { code: 'store-declined' }, 'the run stays on the board'],
    [503, { code: 'store-unavailable' }, 'Look whether it was'], [429, { code: 'rate-limited' }, 'Too many wrong codes']]) {
    answer = { status, json };
    await page.fill('#withdraw-run', 'some-run');
    await page.fill('#withdraw-code', 'x'.repeat(43));
    await page.click('#withdraw form button');
    await said(page, words);
  }
});
