// /check in a real browser: what it says of files, that nothing leaves the browser before its button is pressed, and
// that it can be used by everybody.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { Folder } from '../support/checker.mjs';
import { corpusFiles, NO_CORPUS } from '../support/corpus.mjs';
import { CELL_KINDS, makeRun, seal } from '../support/run.mjs';
import { startService } from '../support/service.mjs';
import { accessibility, openPage, overflow, screenshot, settled, startBrowser } from './support/browser.mjs';

const EVIL = '<img src=x onerror=alert(1)><script>alert(2)</script>"\'\u202e';

/** Opens /check of SERVICE and waits until it can judge; `page.posts` collects what is sent. */
async function openCheck(t, service, options = {}) {
  const browser = await startBrowser(t);
  const page = await openPage(t, browser, { viewport: { width: 1280, height: 900 }, ...options });
  page.posts = [];
  page.on('request', (request) => { if (request.method() !== 'GET') page.posts.push(new URL(request.url()).pathname); });
  if (options.prepare) await options.prepare(page);
  await page.goto(`${service.base}/check`);
  await page.waitForSelector('#check:not([hidden])');
  return page;
}

const fileOf = (name, content) => ({ name, mimeType: 'application/json',
  buffer: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)) });
const flagged = (more) => {
  const run = makeRun(more);
  run.fingerprint = null;
  return seal(run);
};

/** Gives FILES to the page and waits for what it says of each. */
async function choose(page, ...files) {
  await page.setInputFiles('#check-files', files);
  await page.waitForFunction((count) => document.querySelectorAll('.checked[data-verdict]').length === count
    && !document.querySelector('#check[aria-busy]'), files.length);
  return page.locator('.checked').evaluateAll((nodes) => nodes.map((node) => node.dataset.verdict));
}

/** Drops files on the page, as from a file manager. */
function drop(page, files) {
  return page.evaluate((list) => {
    const data = new DataTransfer();
    for (const { name, text } of list) data.items.add(new File([text], name, { type: 'application/json' }));
    for (const type of ['dragover', 'drop'])
      document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data }));
  }, files);
}

let service;
before(async (t) => { service = await startService(t); });

test('check: a good file dropped on the page is judged without a network and without being sent', async (t) => {
  const page = await openCheck(t, service);
  await page.context().setOffline(true);
  await drop(page, [{ name: 'good.json', text: JSON.stringify(seal(makeRun({ cells: CELL_KINDS }))) }]);
  await page.waitForSelector('[data-verdict=publishable]');
  const text = await page.locator('.checked').innerText();
  assert.match(text, /This run would be published: no rule has anything to say\./);
  assert.match(text, /Recomputed figures[^]*Decode/);
  assert.match(text, /runs\/2026\/01\/made-up-run-000001\.json/);
  assert.ok(await page.locator('.run-page svg').count() > 5, 'the pictures of the traces');
  assert.match(await page.locator('#check-status').innerText(), /would be published/);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'good.json', 'the focus is at the result');
  assert.deepEqual(page.posts, []);
  await page.context().setOffline(false);
  settled(page);
  await screenshot(page, 'check-good');
});

test('check: flags come in words with their numbers and what to do, and the entry that would be made', async (t) => {
  const page = await openCheck(t, service);
  const run = makeRun();
  run.fingerprint.mflops = 1e9;
  run.environment.webglRenderer = 'llvmpipe';
  run.cells[0].resolvedBackend = 'wasm';
  for (const cell of run.cells) if (cell.resolvedBackend === 'webgpu') cell.resolvedBackend = 'wasm';
  run.environment.languages = ['de'];
  run.environment.locale = { timeZone: 'Europe/Berlin', locale: 'de' };
  assert.deepEqual(await choose(page, fileOf('flagged.json', seal(run))), ['quarantine']);
  const text = await page.locator('.checked').innerText();
  assert.match(text, /would go to quarantine.*1 finding/);
  assert.match(text, /reject fingerprint-implausible: .*\./);
  assert.match(text, /mflops\s+1000000000/);
  assert.match(text, /warn software-renderer/);
  assert.match(text, /What to do: Measure again/);
  for (const name of ['environment.languages', 'environment.locale.timeZone']) assert.ok(text.includes(name), name);
  assert.match(text, /quarantine\/2026\/01\//);
  const entry = JSON.parse(await page.locator('.checked details pre').first().textContent());
  assert.equal(entry.runId, run.runId);
  assert.equal(entry.flagged, true);
  settled(page);
  await screenshot(page, 'check-flagged');
});

test('check: broken files are refused with what is wrong and where', async (t) => {
  const page = await openCheck(t, service);
  const { digest, ...undigested } = seal(makeRun());
  const shape = makeRun();
  shape.cells[0].iterations[0].chunks[3].t = 'soon';
  const files = [fileOf('text.json', 'hello'), fileOf('undigested.json', undigested),
    fileOf('changed.json', { ...seal(makeRun()), suite: 'thorough' }), fileOf('shape.json', seal(shape)),
    fileOf('old.json', seal(makeRun({ protocol: 'localmode-bench/4' })))];
  assert.deepEqual(await choose(page, ...files), Array(5).fill('refused'));
  const texts = await page.locator('.checked').allInnerTexts();
  assert.match(texts[0], /not JSON: .*line 1, column 1/);
  assert.match(texts[1], /The run has no digest\. Export it again, or put in the one of its content: [0-9a-f]{64}/);
  assert.doesNotMatch(texts[1], /was changed/);
  assert.match(texts[2], /The digest is not that of the run\. .*[0-9a-f]{64}/);
  assert.match(texts[3], /\/cells\/0\/iterations\/0\/chunks\/3\/t/);
  assert.match(texts[4], /\/protocol/);
  assert.match(texts[4], /Recomputed figures/, 'an archived run is still shown');
  assert.equal(await page.getByRole('button', { name: 'Submit' }).count(), 0);
  assert.match(await page.locator('#check-status').innerText(), /5 files checked/);
  assert.deepEqual(await choose(page, fileOf('good.json', seal(makeRun()))), ['publishable'], 'and the next one is judged');
  settled(page);
});

test('check: strings of a file stay text', async (t) => {
  const page = await openCheck(t, service, { viewport: { width: 320, height: 700 } });
  const run = makeRun({ cells: CELL_KINDS });
  const { environment, cells } = run;
  Object.assign(environment, { userReportedDevice: EVIL, gpuModel: '\u{1F600}'.repeat(90), webglRenderer: EVIL });
  environment.gpu.vendor = EVIL;
  environment.gpu.description = '\u{1F600}'.repeat(50_000);
  cells[0].cellId = EVIL.repeat(2);
  cells[0].model.displayName = EVIL;
  run.fingerprint = null;
  run[EVIL] = EVIL;
  delete run.clientSummaries;
  const broken = { ...makeRun(), [EVIL]: 1, suite: EVIL, cells: [{ [EVIL]: EVIL }] };
  assert.deepEqual(await choose(page, fileOf(`${EVIL}.json`, seal(run)), fileOf('b.json', seal(broken))), ['quarantine', 'refused']);
  for (const details of await page.locator('.checked details').all()) await details.evaluate((node) => { node.open = true; });
  assert.equal(await page.locator('.checked img, .checked script').count(), 0);
  assert.doesNotMatch(await page.locator('#check-results').innerText(), /\u202e/);
  assert.deepEqual(await overflow(page), []);
  settled(page);
});

test('check: the button submits the run with a fresh nonce and shows what came back', async (t) => {
  const page = await openCheck(t, service);
  const run = seal(makeRun({ id: 'checked-and-sent-1' }), 'an-old-nonce');
  assert.deepEqual(await choose(page, fileOf('run.json', run)), ['publishable']);
  assert.deepEqual(page.posts, []);
  await page.getByRole('button', { name: 'Submit this run' }).click();
  await page.waitForSelector('.outcome a');
  assert.deepEqual(page.posts, ['/api/bench/submit']);
  assert.match(await page.locator('.outcome').innerText(), /The run is published/);
  assert.equal(await page.evaluate(() => document.activeElement.className), 'outcome');
  const { body } = await service.json('/api/bench/runs/checked-and-sent-1');
  assert.equal(body.status, 'published');
  const stored = JSON.parse(service.file(body.path));
  assert.equal(stored.digest, run.digest, 'only the nonce was put in');
  settled(page);
  await page.getByRole('link', { name: 'Open the page of this run' }).click();
  await page.waitForURL('**/run/checked-and-sent-1');
  assert.match(await page.locator('main').innerText(), /checked-and-sent-1/);
  settled(page);
});

test('check: a run that is too large for the service is refused, and shown all the same', async (t) => {
  const page = await openCheck(t, service);
  assert.deepEqual(await choose(page, fileOf('large.json', seal(makeRun({ pad: 5 * 1024 * 1024 })))), ['refused']);
  assert.match(await page.locator('.checked').innerText(), /the service takes 4194304[^]*Decode/);
  assert.equal(await page.getByRole('button', { name: 'Submit' }).count(), 0);
  settled(page);
});

test('check: a file with a digest by the older rule is submitted with the present one', async (t) => {
  const page = await openCheck(t, service);
  await choose(page, fileOf('legacy.json', seal(makeRun({ id: 'legacy-run-1' }), 'an-old-nonce', { legacy: true })));
  await page.getByRole('button', { name: 'Submit this run' }).click();
  await page.waitForSelector('.outcome a');
  assert.equal((await service.json('/api/bench/runs/legacy-run-1')).body.status, 'published');
  settled(page);
});

test('check: where submissions are closed the run can be saved', async (t) => {
  const unbound = await startService(t, { store: null });
  const page = await openCheck(t, unbound);
  await choose(page, fileOf('run.json', seal(makeRun({ id: 'kept-as-a-file' }))));
  await page.getByRole('button', { name: 'Submit this run' }).click();
  await page.waitForSelector('.outcome button');
  assert.match(await page.locator('.outcome').innerText(), /bench-store-unbound/);
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('.outcome button').click()]);
  assert.equal(download.suggestedFilename(), 'kept-as-a-file.json');
  const { nonce, digest } = JSON.parse(readFileSync(await download.path()));
  assert.equal(nonce, undefined);
  assert.match(digest, /^[0-9a-f]{64}$/);
});

test('check: without WebAssembly it says that files are sent, and sends none before its button', async (t) => {
  const page = await openCheck(t, service, { prepare: (made) => made.addInitScript(() => { delete globalThis.WebAssembly; }) });
  assert.match(await page.locator('#check-mode').innerText(), /WILL BE SENT/);
  await page.setInputFiles('#check-files', [fileOf('a.json', flagged()), fileOf('b.json', 'x')]);
  await page.getByRole('button', { name: 'Send 2 files for checking' }).waitFor();
  assert.deepEqual(page.posts, []);
  await page.keyboard.press('Enter'); // the button has the focus
  await page.waitForFunction(() => document.querySelectorAll('.checked[data-verdict]').length === 2);
  assert.deepEqual(page.posts, ['/api/bench/validate', '/api/bench/validate']);
  const [first, second] = await page.locator('.checked').allInnerTexts();
  assert.match(first, /fingerprint-missing[^]*What to do: [^]*Recomputed figures/);
  assert.match(second, /not JSON/);
  await screenshot(page, 'check-without-webassembly');
});

test('check: a build without the module, or one that cannot be fetched, says that files are sent', async (t) => {
  const page = await openCheck(t, service, { prepare: (made) => made.route('**/validator.wasm*', (route) => route.fulfill({ status: 404 })) });
  assert.match(await page.locator('#check-mode').innerText(), /WILL BE SENT/);
  await page.setInputFiles('#check-files', [fileOf('a.json', seal(makeRun()))]);
  await page.getByRole('button', { name: 'Send 1 file for checking' }).click();
  await page.waitForSelector('[data-verdict=publishable]');
  assert.deepEqual(page.posts, ['/api/bench/validate']);
});

test('check: a service with rules of its own does not promise the verdict of the page', async (t) => {
  assert.doesNotMatch(await (await service.fetch('/check')).text(), /may differ/);
  const own = await startService(t, { config: { protocols: 'localmode-bench/5,localmode-bench/4' } });
  assert.match(await (await own.fetch('/check')).text(), /its own verdict may differ/);
});

test('check: where the service takes smaller files the page says so, and a refusal is shown as one', async (t) => {
  const own = await startService(t, { config: { max_body: 65536 } });
  const page = await openCheck(t, own);
  assert.match(await page.locator('main .note').innerText(), /smaller files.*its own verdict may differ/);
  const run = seal(makeRun({ id: 'too-large-here', pad: 200_000 }));
  assert.deepEqual(await choose(page, fileOf('large.json', run)), ['publishable'], 'the module knows the usual limit only');
  await page.getByRole('button', { name: 'Submit this run' }).click();
  await page.waitForFunction(() => document.querySelector('.outcome').textContent !== '');
  assert.match(await page.locator('.outcome').innerText(), /payload-too-large/);
  assert.equal(await page.locator('.outcome a').count(), 0);
  assert.equal((await own.json('/api/bench/runs/too-large-here')).status, 404);
});

test('check: without JavaScript it names the command line', async (t) => {
  const browser = await startBrowser(t);
  const page = await openPage(t, browser, { javaScriptEnabled: false });
  await page.goto(`${service.base}/check`);
  assert.match(await page.locator('noscript').innerText(), /benchledger check FILE/);
  assert.equal(await page.locator('#check').isVisible(), false);
});

test('check: the keyboard is enough', async (t) => {
  const page = await openCheck(t, service);
  const asked = page.waitForEvent('filechooser'); // before any key: the browser has to know before the dialog opens
  for (let i = 0; i < 12 && await page.evaluate(() => document.activeElement.id) !== 'check-files'; i++)
    await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'check-files');
  await page.keyboard.press('Space');
  await (await asked).setFiles([fileOf('run.json', seal(makeRun({ id: 'by-keyboard-1' })))]);
  await page.waitForSelector('[data-verdict]');
  for (let i = 0; i < 30 && await page.evaluate(() => document.activeElement.textContent) !== 'Submit this run'; i++)
    await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.outcome a');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Open the page of this run');
  settled(page);
});

/** A worker that gets ready and then does WORK with a file called bad.json; others are judged as nothing. */
const workerThat = (work) => (page) => page.route('**/check_worker.js*', (route) => route.fulfill({ contentType: 'text/javascript', body: `
  addEventListener('message', ({ data }) => {
    if (data.validator) postMessage({ ready: true });
    else if (data.name !== 'bad.json') postMessage({ check: {}, dryRun: { ok: true }, markup: null });
    else { ${work} }
  });` }));
const BAD = fileOf('bad.json', '{}'), OTHER = fileOf('other.json', '{}');

test('check: Stop ends a validator that does not answer, by keyboard, and the same file can be chosen again', async (t) => {
  const page = await openCheck(t, service, { prepare: workerThat('for (;;);') });
  assert.equal(await page.locator('#check-stop').isVisible(), false);
  for (const round of [1, 2]) {
    await page.setInputFiles('#check-files', [OTHER, BAD, OTHER]);
    await page.waitForFunction(() => /Checking bad/.test(document.getElementById('check-status').textContent));
    await page.focus('#check-files');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'check-stop', `round ${round}`);
    if (round === 1) await screenshot(page, 'check-stop');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#check:not([aria-busy])');
    assert.deepEqual(await page.locator('.checked').evaluateAll((nodes) => nodes.map((node) => node.dataset.verdict)), ['publishable', 'unread']);
    assert.match(await page.locator('.checked').last().innerText(), /Stopped\. It was not judged, and nothing was sent\./);
    assert.equal(await page.textContent('#check-status'), 'Stopped: 2 files not checked.');
    assert.equal(await page.locator('#check-stop').isVisible(), false);
    while (page.workers().length) await page.workers()[0].waitForEvent('close'); // the loop has ended, too
  }
  assert.deepEqual(await choose(page, OTHER), ['publishable']);
  assert.deepEqual(page.posts, []);
  settled(page);
});

test('check: a validator that stays silent is ended after a minute, and the next file is judged', async (t) => {
  const page = await openCheck(t, service, { prepare: async (made) => {
    await workerThat('close();')(made);
    await made.clock.install();
  } });
  await page.setInputFiles('#check-files', [BAD, OTHER]);
  await page.waitForFunction(() => /Checking bad/.test(document.getElementById('check-status').textContent));
  await page.clock.fastForward(50_000);
  assert.equal(await page.locator('.checked').count(), 0);
  await page.clock.fastForward(11_000);
  await page.waitForSelector('#check:not([aria-busy])');
  assert.match(await page.locator('.checked').first().innerText(), /no answer for 60 seconds\. It was not judged, and nothing was sent\./);
  assert.equal(await page.locator('.checked').last().getAttribute('data-verdict'), 'publishable');
  settled(page);
});

for (const [name, work, said] of [['breaks off', 'setTimeout(() => { throw new Error("out of luck"); });', /broke off: .*out of luck\. It was not judged, and nothing was sent\./],
  ['traps', 'postMessage({ error: "The validator could not cope with this file." });', /could not cope with this file\./]])
  test(`check: a validator that ${name} says so, and the next file is judged`, async (t) => {
    const page = await openCheck(t, service, { prepare: workerThat(work) });
    assert.deepEqual(await choose(page, BAD, OTHER), ['unread', 'publishable']);
    assert.match(await page.locator('.checked').first().innerText(), said);
    assert.deepEqual(page.posts, []);
  });

test('check: a validator that cannot be started again says so', async (t) => {
  const page = await openCheck(t, service, { prepare: workerThat('setTimeout(() => { throw new Error("gone"); });') });
  assert.deepEqual(await choose(page, BAD), ['unread']);
  await page.unroute('**/check_worker.js*');
  await page.route('**/check_worker.js*', (route) => route.abort());
  assert.deepEqual(await choose(page, OTHER), ['unread']);
  assert.match(await page.locator('.checked').innerText(), /could not be started again.*Nothing was sent\. Load this page again\./);
  assert.deepEqual(page.posts, []);
});

test('check: Stop ends a file that is on its way to the service, and does not say that nothing was sent', async (t) => {
  const page = await openCheck(t, service, { prepare: async (made) => {
    await made.addInitScript(() => { delete globalThis.WebAssembly; });
    await made.route('**/api/bench/validate', () => {});
  } });
  await page.setInputFiles('#check-files', [OTHER]);
  await Promise.all([page.waitForRequest('**/api/bench/validate'), page.getByRole('button', { name: 'Send 1 file for checking' }).click()]);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.waitForSelector('[data-verdict=unread]');
  const text = await page.locator('.checked').innerText();
  assert.match(text, /Stopped\. The file may have reached the service, which stores nothing of a check\./);
  assert.doesNotMatch(text, /nothing was sent/);
});

test('check: a later choice is not blamed for the silence about an earlier one', async (t) => {
  const page = await openCheck(t, service, { prepare: async (made) => {
    await workerThat('for (;;);')(made);
    await made.clock.install();
  } });
  await page.setInputFiles('#check-files', [BAD]);
  await page.waitForFunction(() => /Checking bad/.test(document.getElementById('check-status').textContent));
  await page.setInputFiles('#check-files', [OTHER]);
  await page.clock.fastForward(61_000);
  await page.waitForSelector('[data-verdict=publishable]');
  assert.equal(await page.locator('.checked').count(), 1);
  settled(page);
});

test('check: the page spells out the controls and direction marks of the specification, and no other character', async () => {
  const html = await (await service.fetch('/check')).text();
  const controls = new RegExp(`^[${html.match(/data-controls="([^"]*)"/)[1]}]$`, 'u');
  const expected = /^[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]$/;
  for (let code = 0; code <= 0x10ffff; code++) {
    const sign = String.fromCodePoint(code);
    assert.equal(controls.test(sign), expected.test(sign), code.toString(16));
  }
});

for (const colorScheme of ['light', 'dark'])
  for (const width of [320, 1280])
    test(`check: accessible and nothing sticks out, ${colorScheme}, ${width} pixels`, async (t) => {
      const page = await openCheck(t, service, { colorScheme, viewport: { width, height: 800 } });
      assert.deepEqual(await accessibility(page), []);
      await screenshot(page, `check-empty-${colorScheme}-${width}`);
      const { digest, ...broken } = makeRun();
      broken.suite = 7;
      await choose(page, fileOf('a-run-with-a-long-name-as-browsers-give-them.json', flagged({ cells: CELL_KINDS })),
        fileOf('broken.json', seal(broken)));
      await page.locator('#check-rules').evaluate((node) => { node.open = true; });
      assert.deepEqual(await overflow(page), []);
      assert.deepEqual(await accessibility(page), []);
      settled(page);
      await screenshot(page, `check-${colorScheme}-${width}`);
    });

test('check: every real file is judged and shown', { skip: NO_CORPUS }, async (t) => {
  const page = await openCheck(t, service);
  const files = corpusFiles();
  const verdicts = await choose(page, ...files.map((name, i) => ({ name: `${i}.json`, mimeType: 'application/json', buffer: readFileSync(name) })));
  assert.ok(!verdicts.includes('unread'));
  settled(page);
});

test('check: page and module stay within their weight', async (t) => {
  const sizes = {};
  for (const place of ['/check', '/assets/style.css', '/assets/check.js', '/assets/check_worker.js', '/client.js', '/assets/validator.wasm']) {
    const response = await service.fetch(place, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(response.status, 200);
    sizes[place] = Number(response.headers.get('content-length'));
  }
  const module = sizes['/assets/validator.wasm'];
  const rest = Object.values(sizes).reduce((sum, size) => sum + size, 0) - module;
  t.diagnostic(`${JSON.stringify(sizes)}: ${rest} bytes beside the module`);
  assert.ok(module < 250_000 && rest < 150_000);
});

test('check: a later choice takes the place of one that is still being judged', async (t) => {
  const service = await startService(t);
  const page = await openPage(t, await startBrowser(t));
  await page.goto(`${service.base}/check`);
  const file = (name, run) => ({ name, mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(run)) });
  const slow = Array.from({ length: 8 }, (_, i) => file(`early-${i}.json`, makeRun({ seed: i + 1, pad: 3_000_000 })));
  await page.setInputFiles('input[type=file]', slow);
  await page.setInputFiles('input[type=file]', [file('late.json', seal(makeRun({ id: 'chosen-later' })))]);
  await page.waitForFunction(() => /published/.test(document.getElementById('check-status').textContent));
  await page.waitForTimeout(500); // an early one would have come by now
  assert.deepEqual(await page.$$eval('#check-results h2', (all) => all.map((one) => one.textContent).filter((text) => /json$/.test(text))), ['late.json']);
});
