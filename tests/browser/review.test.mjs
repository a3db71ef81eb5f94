// Deciding about quarantined runs in Chromium: the list, a run's page with its neighbours and its form, the history
// that everybody sees, the feed.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { decide, flaggedRun, makeMaintainers, stateOf } from '../support/review.mjs';
import { startRemote } from '../support/remote.mjs';
import { postAll, sealedRuns, startRemoteService, until } from '../support/remote_service.mjs';
import { makeRun } from '../support/run.mjs';
import { command, startService } from '../support/service.mjs';
import { accessibility, openPage, overflow, screenshot, settled, startBrowser } from './support/browser.mjs';
import { hostileRun } from './support/hostile.mjs';

const PEOPLE = [['ada', 'reviewer'], ['grace', 'admin']];
const PHONE = { viewport: { width: 320, height: 640 } };
const CELLS = ['llm', 'embed-single', 'embed-batch'];
const cleanups = [];
const all = { after: (work) => cleanups.push(work) };
let browser;

before(async () => { browser = await startBrowser(all); });
after(async () => {
  for (const work of cleanups.reverse()) await work();
});

/** A service with maintainers and RUNS, in this order; {service, tokens, open(place, options)}. */
async function start(t, runs, config = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-review-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { file, tokens } = await makeMaintainers(folder, PEOPLE);
  const service = await startService(t, { config: { maintainers_file: file, review_rate_limit: 0, view_rate_limit: 0, ...config } });
  for (const run of runs) {
    const { status, body } = await service.submit(run);
    assert.equal(status, 200, JSON.stringify(body).slice(0, 500));
  }
  const open = async (place, options) => {
    const page = await openPage(t, browser, options);
    await page.goto(service.base + place);
    return page;
  };
  return { service, tokens, open };
}

/** The browser logs refusals by itself; those that the test provoked are STATUSES. */
function settledAfter(page, ...statuses) {
  const expected = new RegExp(`^console: Failed to load resource: .*(${statuses.join('|')})\\b`);
  page.complaints = page.complaints.filter((text) => !expected.test(text));
  settled(page);
}

async function fill(page, { token, action, reason = 'looked at it' }) {
  await page.fill('#review-token', token);
  await page.check(`#review-${action}`);
  await page.fill('#review-reason', reason);
}

async function send(page, decision) {
  await fill(page, decision);
  await page.click('#review button.primary');
}

const said = (page, pattern) => page.waitForFunction((source) =>
  new RegExp(source).test(document.querySelector('#review-said')?.textContent ?? ''), pattern.source, { timeout: 15_000 });
const historyOf = (page) => page.$$eval('.history > li', (items) => items.map((item) => item.textContent.replace(/\s+/g, ' ').trim()));
const stored = (page) => page.evaluate(() => JSON.stringify([Object.entries(sessionStorage), Object.entries(localStorage),
  document.cookie, location.href]));

test('review: a run is released from its page by keyboard alone, and the board has it', async (t) => {
  const { service, tokens, open } = await start(t, [flaggedRun({ id: 'flagged-run-one', seed: 1 })]);
  const page = await open('/review');
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  const focused = () => page.evaluate(() => document.activeElement.id);
  const tabTo = async (id) => {
    for (let i = 0; i < 60 && await focused() !== id; i++) await press('Tab');
    assert.equal(await focused(), id);
  };
  for (let i = 0; i < 20 && await page.evaluate(() => document.activeElement.textContent) !== 'flagged-run-one'; i++) await press('Tab');
  await press('Enter');
  await page.waitForURL('**/review/flagged-run-one');
  await tabTo('review-token');
  await page.keyboard.type(tokens.ada);
  await tabTo('review-release');
  await press('Space', 'Tab');
  assert.equal(await focused(), 'review-reason');
  await page.keyboard.type('the harness cut the text');
  await press('Tab', 'Enter');
  await said(page, /^Released: the run is on the board/);
  assert.equal(await focused(), 'review-said');
  assert.match((await historyOf(page)).at(-1), /Released onto the board by ada\. ledger event 2the harness cut the text$/);
  assert.match(await page.textContent('h1 + p'), /^published/);
  assert.deepEqual(await page.$$eval('#review input[type=radio]', (found) => found.map(({ value }) => value)), ['withdraw']);
  assert.equal(await page.inputValue('#review-token'), tokens.ada, 'the page remembers it until it is left');
  assert.equal((await service.json('/api/bench/leaderboard')).body.runs, 1);
  assert.ok(!(await stored(page)).includes(tokens.ada));
  await page.reload();
  assert.equal(await page.inputValue('#review-token'), '');
  settled(page);
});

test('review: what was kept is marked in the list, and filters find it', async (t) => {
  const missing = flaggedRun({ id: 'flagged-run-two', seed: 2 });
  missing.fingerprint = null;
  const { tokens, open } = await start(t, [flaggedRun({ id: 'flagged-run-one', seed: 1 }), missing]);
  const page = await open('/review/flagged-run-one');
  await send(page, { token: tokens.ada, action: 'keep', reason: 'no such device' });
  await said(page, /^Kept/);
  const list = await open('/review', { javaScriptEnabled: false });
  const shown = () => list.$$eval('.case h2', (heads) => heads.map(({ textContent }) => textContent));
  assert.deepEqual(await shown(), ['flagged-run-two', 'flagged-run-one']);
  assert.match(await list.textContent('#count'), /^2 runs in quarantine/);
  assert.match(await list.textContent('.case:nth-child(2)'), /Looked at and kept in quarantine by ada[\s\S]*no such device/);
  assert.match(await list.textContent('.case:nth-child(1)'),
    /linux\/nvidia-geforce-rtx-3060, Chrome[\s\S]*localmode-bench\/5[\s\S]*fingerprint-missing: the run carries no calibration check[\s\S]*Let the runner finish[\s\S]*chunkUnits\d+[\s\S]*Nobody has decided/);
  for (const [decision, flag, expected] of [['open', '', ['flagged-run-two']], ['kept', '', ['flagged-run-one']],
    ['', 'fingerprint-missing', ['flagged-run-two']], ['kept', 'fingerprint-missing', []]]) {
    await list.selectOption('#f-decision', decision);
    await list.selectOption('#f-flag', flag);
    await list.click('.choose button');
    assert.deepEqual(await shown(), expected, `${decision} ${flag}`);
    assert.deepEqual([await list.inputValue('#f-decision'), await list.inputValue('#f-flag')], [decision, flag]);
    assert.match(await list.textContent('#count'), new RegExp(`^${expected.length} runs? in quarantine that you asked for`));
  }
  for (const query of ['decision=perhaps', 'before=x', 'before=-1', 'before=0', 'before=99999999999999999999', `flag=${'x'.repeat(65)}`]) {
    const response = await list.goto(new URL(`/review?${query}`, list.url()).href);
    assert.equal(response.status(), 400, query);
  }
  await list.goto(new URL('/review?flag=%22%3E%3Cscript%3EglobalThis.broken%3D1%3C/script%3E', list.url()).href);
  assert.deepEqual(await shown(), []);
  settled(page);
  settledAfter(list, 400);
});

test('review: withdrawing takes an admin, and the page of the run says who, why and what is left', async (t) => {
  const { tokens, open } = await start(t, [makeRun({ id: 'plain-run-one', seed: 1 }), flaggedRun({ id: 'flagged-run-two', seed: 2 })]);
  for (const id of ['plain-run-one', 'flagged-run-two']) {
    const page = await open(`/review/${id}`);
    await send(page, { token: tokens.ada, action: 'withdraw', reason: 'asked to' });
    await said(page, /withdrawing a run takes an admin\. Nothing was decided/);
    await page.fill('#review-token', tokens.grace);
    await page.click('#review button.primary');
    await said(page, /^Withdrawn/);
    assert.match(await page.textContent('h1'), /^Withdrawn: run/);
    assert.equal(await page.$('#review'), null);
    settledAfter(page, 403, 410);
    for (const place of ['run', 'review']) {
      const response = await page.goto(new URL(`/${place}/${id}`, page.url()).href);
      assert.equal(response.status(), 410);
      assert.match(await page.textContent('main'), /public git repository, though: its history keeps what was published once/);
      const history = await historyOf(page);
      assert.match(history.at(-1), /Withdrawn by grace\. ledger event \d+asked to$/);
      assert.match(history[1], id === 'plain-run-one' ? /Published: rule set 2 had nothing to say/ : /Quarantined by rule set 2: text-chunk-mismatch/);
    }
  }
});

test('review: a run that was removed for good says so', async (t) => {
  const { service, open } = await start(t, [flaggedRun({ id: 'flagged-run-one', seed: 1 })]);
  const { code, stderr } = await command(['redact', service.store, 'flagged-run-one', '--reason', 'a <court>', '--by', 'grace']);
  assert.equal(code, 0, stderr);
  await until(async () => (await stateOf(service, 'flagged-run-one')).status === 'withdrawn', { what: 'the service follows' });
  const page = await open('/run/flagged-run-one');
  assert.equal(await page.textContent('h1'), 'Removed: run flagged-run-one');
  assert.match((await historyOf(page)).at(-1), /Redacted by grace\. ledger event 2a <court>$/);
  assert.match(await page.textContent('main'), /Copies of the repository that others made before may still hold it/);
  settledAfter(page, 410);
});

test('review: a wrong token is told in words and is kept nowhere', async (t) => {
  const { service, open } = await start(t, [flaggedRun({ id: 'flagged-run-one', seed: 1 })], { review_rate_limit: 2 });
  const page = await open('/review/flagged-run-one');
  for (const token of ['wrong-token', 'w\u00f6rong']) {
    await page.check('#review-remember');
    await send(page, { token, action: 'release' });
    await said(page, /not one of a maintainer, or it has expired\. Nothing was decided/);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'review-token');
    assert.ok(!(await stored(page)).includes(token));
  }
  for (let i = 0; i < 2; i++) await send(page, { token: `wrong-token-${i}`, action: 'release' });
  await said(page, /Too many wrong tokens came from your address\..* It may be tried again in \d+ seconds/);
  assert.equal((await stateOf(service, 'flagged-run-one')).revision, 1);
  settledAfter(page, 401, 429);
});

test('review: the token stays for the tab only when that is ticked', async (t) => {
  const { tokens, open } = await start(t, [1, 2].map((seed) => flaggedRun({ id: `flagged-run-${seed}`, seed })));
  const page = await open('/review/flagged-run-1');
  await page.check('#review-remember');
  await send(page, { token: tokens.ada, action: 'keep' });
  await said(page, /^Kept/);
  assert.ok((await stored(page)).includes(tokens.ada));
  await page.goto(new URL('/review/flagged-run-2', page.url()).href);
  assert.equal(await page.inputValue('#review-token'), tokens.ada);
  assert.equal(await page.isChecked('#review-remember'), true);
  const other = await open('/review/flagged-run-2');
  assert.equal(await other.inputValue('#review-token'), '', 'another tab knows nothing of it');
  await page.uncheck('#review-remember');
  assert.ok(!(await stored(page)).includes(tokens.ada));
  assert.deepEqual((await page.context().cookies()), []);
  settled(page);
  settled(other);
});

test('review: what was decided in another tab is not decided over', async (t) => {
  const { service, tokens, open } = await start(t, [flaggedRun({ id: 'flagged-run-one', seed: 1 })]);
  const [first, second] = [await open('/review/flagged-run-one'), await open('/review/flagged-run-one')];
  await send(first, { token: tokens.ada, action: 'keep', reason: 'the first' });
  await said(first, /^Kept/);
  await send(second, { token: tokens.grace, action: 'release', reason: 'the second' });
  await said(second, /Something else was decided about this run since this page was loaded, so yours was not taken/);
  await second.click('#review-said button');
  await said(second, /^This is the run as it is now/);
  assert.match((await historyOf(second)).at(-1), /kept in quarantine by ada.*the first/);
  assert.equal(await second.inputValue('#review-reason'), 'the second', 'what was typed is not lost');
  await second.check('#review-release');
  await second.click('#review button.primary');
  await said(second, /^Released/);
  await send(first, { token: tokens.ada, action: 'release' });
  await said(first, /Something else was decided|cannot be done to the run in the state/);
  assert.equal((await stateOf(service, 'flagged-run-one')).history.length, 3);
  settledAfter(first, 409);
  settledAfter(second, 409);
});

test('review: a queued decision is followed until the dataset has it, or another one', async (t) => {
  const { service, tokens, open } = await start(t, [1, 2, 3, 4].map((seed) => flaggedRun({ id: `flagged-run-${seed}`, seed })));
  const page = await open('/review/flagged-run-1');
  let proceed;
  const asked = new Promise((resolve) => { proceed = resolve; });
  await page.route('**/api/bench/review', (route) => route.fulfill({ status: 202,
    json: { ok: true, queued: true, by: 'ada', reason: 'looked at it' } }));
  await page.route('**/api/bench/runs/*', (route) => {
    proceed();
    return route.continue();
  });
  await send(page, { token: tokens.ada, action: 'release' });
  await said(page, /durable at this service\. Waiting until the dataset has it/);
  await asked;
  await decide(service, tokens.ada, { runId: 'flagged-run-1', action: 'release', expectedRevision: 1 });
  await said(page, /^Released/);
  const others = [[2, 'keep', tokens.grace], [3, 'release', tokens.grace], [4, 'release', tokens.ada, 'for another reason']];
  for (const [n, action, token, reason] of others) {
    await page.goto(new URL(`/review/flagged-run-${n}`, page.url()).href);
    await send(page, { token: tokens.ada, action: 'release' });
    await decide(service, token, { runId: `flagged-run-${n}`, action, reason, expectedRevision: n });
    await said(page, /Another decision was in the dataset first, and yours came to nothing/);
  }
  assert.match((await historyOf(page)).at(-1), /Released onto the board by ada.*for another reason/);
  settled(page);
});

test('review: a decision about a dataset on a remote that is away is followed to its end', { timeout: 120_000 }, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-review-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { file, tokens } = await makeMaintainers(folder, PEOPLE);
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote, { config: { maintainers_file: file, submit_wait_ms: 3000, remote_timeout_ms: 5000 } });
  await service.ready();
  const runs = await sealedRuns(service, 'flagged', 1, (id, seed) => flaggedRun({ id, seed, cells: ['llm'], chunks: 8 }));
  await postAll(service, runs, { clients: 1 });
  await service.settled(runs, 'quarantined');
  await remote.down();
  const page = await openPage(t, browser);
  await page.goto(`${service.base}/review/${runs[0].runId}`);
  await send(page, { token: tokens.ada, action: 'release', reason: ' looked\n at\u202e it ' });
  await said(page, /durable at this service\. Waiting until the dataset has it/);
  await remote.up();
  await said(page, /^Released: the run is on the board now/);
  assert.match((await historyOf(page)).at(-1), /Released onto the board by ada.*looked at it/);
  settled(page);
});

test('review: every other answer is told in words that say whether something was decided', async (t) => {
  const { tokens, open } = await start(t, [flaggedRun({ id: 'flagged-run-one', seed: 1 })]);
  const page = await open('/review/flagged-run-one');
  let answer;
  await page.route('**/api/bench/review', (route) => answer(route));
  for (const [status, json, words] of [[503, { code: 'store-unavailable', retryAfterSec: 30 }, /could not be stored now\. Look whether it was.*30 seconds/],
    [503, { code: 'bench-store-unbound' }, /may not write to its dataset/],
    [422, { code: 'store-declined' }, /host of the dataset does not take this decision\. Nothing was decided/], [404, { code: 'unknown-run' }, /does not know this run any more/],
    [409, { code: 'wrong-state' }, /in the state it is in now/], [400, { code: 'invalid-review' }, /a reason of 1 to 500 characters/],
    [500, { code: 'internal', message: 'Broken.' }, /Broken\. \(internal\)/], [418, {}, /answered 418/]]) {
    answer = (route) => route.fulfill({ status, json: { ok: false, ...json } });
    await send(page, { token: tokens.ada, action: 'release' });
    await said(page, words);
  }
  for (const broken of [(route) => route.abort(), (route) => route.fulfill({ status: 200, body: 'no JSON' })]) {
    answer = broken;
    await send(page, { token: tokens.ada, action: 'release' });
    await said(page, /No answer came\. The decision may have arrived all the same/);
    await page.click('#review-said button');
    await said(page, /^This is the run as it is now/);
  }
  settledAfter(page, 400, 404, 409, 418, 422, 500, 503, 'net::ERR_FAILED');
});

test('review: a reason with markup, direction marks and line ends is text wherever it is shown', async (t) => {
  const { service, tokens, open } = await start(t, [flaggedRun({ id: 'flagged-run-one', seed: 1 })]);
  const reason = `"'><img src=x onerror="globalThis.broken=1">\n<script>globalThis.broken=1</script> \u202Eesrever\u202C\n]]>&amp; \ufffe\uffff`;
  const page = await open('/review/flagged-run-one');
  await send(page, { token: tokens.ada, action: 'keep', reason });
  await said(page, /^Kept/);
  for (const place of ['/review/flagged-run-one', '/run/flagged-run-one', '/review']) {
    await page.goto(service.base + place);
    const text = await page.textContent('blockquote');
    assert.match(text, /^"'><img src=x onerror="globalThis\.broken=1"> <script>globalThis\.broken=1<\/script> esrever \]\]>&amp;/, place);
    assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069]/, place);
    assert.equal(await page.evaluate(() => globalThis.broken), undefined);
    assert.equal(await page.$('main img, main script'), null);
  }
  settled(page);
});

test('review: neighbours are the values of accepted runs of the same row', async (t) => {
  const runs = Array.from({ length: 6 }, (_, i) => makeRun({ id: `plain-run-${i}`, seed: i + 1, cells: CELLS }));
  const { service, open } = await start(t, [...runs, flaggedRun({ id: 'flagged-run-one', seed: 9, cells: CELLS }),
    makeRun({ id: 'of-another-device', seed: 11, cells: CELLS })]);
  const entries = JSON.parse(service.file('index/summary.json'));
  const page = await open('/review/flagged-run-one', { javaScriptEnabled: false });
  await page.click('#neighbours summary');
  const rows = await page.$$eval('#neighbours tbody tr', (all) => all.map((row) => [...row.children].map(({ textContent }) => textContent.trim())));
  assert.equal(rows.length, 5);
  assert.equal(await page.$$eval('#neighbours svg.against', (found) => found.length), 5);
  const figures = ['ttftMs', 'decodeCharsPerSec', 'overallCharsPerSec', 'singleLatencyMs', 'batchTextsPerSec'];
  const own = entries.find(({ runId }) => runId === 'flagged-run-one');
  for (const [i, figure] of figures.entries()) {
    const at = own.cells.findIndex((cell) => figure in cell);
    const values = entries.filter(({ flagged }) => !flagged).map(({ cells }) => cells[at][figure]).sort((a, b) => a - b);
    const near = (text, value) => assert.ok(Math.abs(Number(text) - value) <= Math.abs(value) * 0.005, `${figure}: ${text} is not ${value}`);
    const [, , value, count, below, min, , , , max] = rows[i];
    near(value, own.cells[at][figure]);
    assert.equal(Number(count), values.length);
    assert.equal(Number(below), values.filter((one) => one < own.cells[at][figure]).length);
    near(min, values[0]);
    near(max, values.at(-1));
    const title = await page.$$eval('#neighbours svg.against title', (titles, n) => titles[n].textContent, i);
    assert.match(title, /: this run [\d.]+ \S+; (above all|below all|\d+ of) 7 accepted.*, from [\d.]+ to [\d.]+, median [\d.]+, quartiles/);
  }
  await page.goto(`${service.base}/review/plain-run-0`);
  assert.match(await page.textContent('#neighbours figcaption'), /\b6 accepted/, 'a run on the board is not its own neighbour');
  settled(page);
});

test('review: the list goes on to older runs and works without a script', async (t) => {
  const { open } = await start(t, Array.from({ length: 27 }, (_, i) => flaggedRun({ id: `flagged-run-${i}`, seed: i + 1 })));
  const page = await open('/review', { javaScriptEnabled: false });
  const shown = () => page.$$eval('.case h2', (heads) => heads.map(({ textContent }) => textContent));
  const ids = Array.from({ length: 27 }, (_, i) => `flagged-run-${26 - i}`);
  assert.deepEqual(await shown(), ids.slice(0, 25));
  await page.click('a[rel=next]');
  assert.deepEqual(await shown(), ids.slice(25));
  assert.equal(await page.$('a[rel=next]'), null);
  assert.match(await page.textContent('#count'), /^27 runs/);
  await page.click('text=Newest');
  assert.equal((await shown()).length, 25);
  await page.click('.case h2 a');
  assert.match(await page.textContent('#decide'), /needs JavaScript[\s\S]*POST \/api\/bench\/review/);
  assert.equal(await page.isVisible('#review'), false);
  settled(page);
});

test('review: hostile names stay text, and pages are for everybody: phone, dark, screen reader', async (t) => {
  const hostile = hostileRun('hostile-one');
  hostile.fingerprint = null;
  hostile.cells[0].iterations[1].chunks[3].t = 1;
  const { service, tokens, open } = await start(t, [makeRun({ id: 'plain-run-one', seed: 1, cells: CELLS }),
    flaggedRun({ id: 'flagged-run-one', seed: 2, cells: CELLS }), flaggedRun({ id: 'flagged-run-two', seed: 3, cells: CELLS }), hostile]);
  await decide(service, tokens.ada, { runId: 'flagged-run-two', action: 'keep', reason: 'W'.repeat(500), expectedRevision: 3 });
  for (const [name, options] of [['wide', {}], ['phone', PHONE], ['dark', { colorScheme: 'dark' }]]) {
    const page = await open('/review', options);
    for (const place of ['review', 'review/flagged-run-two', 'review/hostile-one']) {
      await page.goto(`${service.base}/${place}`);
      assert.deepEqual(await overflow(page), [], `${name} ${place}`);
      assert.deepEqual(await accessibility(page), [], `${name} ${place}`);
      assert.equal(await page.evaluate(() => globalThis.broken), undefined, place);
      if (place !== 'review/hostile-one') await screenshot(page, `${place.replace('/', '-')}-${name}`);
    }
    settled(page);
  }
});

test('review: nothing can be decided where there are no maintainers', async (t) => {
  const service = await startService(t);
  await service.submit(flaggedRun({ id: 'flagged-run-one', seed: 1 }));
  const page = await openPage(t, browser);
  await page.goto(`${service.base}/review/flagged-run-one`);
  assert.match(await page.textContent('#decide'), /Nothing can be decided at this service/);
  assert.equal(await page.$('#review'), null);
  assert.equal((await page.goto(`${service.base}/review/no-such-run`)).status(), 404);
  settledAfter(page, 404);
});

/** The feed as Chromium's parser has it: {id, title, updated, links, entries}; throws what is not well formed. */
const parseFeed = (page, text) => page.evaluate((xml) => {
  const feed = new DOMParser().parseFromString(xml, 'application/xml');
  const problem = feed.querySelector('parsererror');
  if (problem) throw new Error(problem.textContent);
  const ATOM = 'http://www.w3.org/2005/Atom';
  const child = (node, name) => [...node.children].filter((one) => one.localName === name && one.namespaceURI === ATOM);
  const describe = (node) => ({ ...Object.fromEntries(['id', 'title', 'updated', 'summary', 'author'].map((name) =>
    [name, child(node, name).map(({ textContent }) => textContent)])),
  links: Object.fromEntries(child(node, 'link').map((link) => [link.getAttribute('rel'), link.getAttribute('href')])) });
  return { root: [feed.documentElement.localName, feed.documentElement.namespaceURI], ...describe(feed.documentElement),
    entries: child(feed.documentElement, 'entry').map(describe) };
}, text);

test('review: the feed is valid Atom with the newest 25 runs', async (t) => {
  const { service, tokens, open } = await start(t, Array.from({ length: 27 }, (_, i) => flaggedRun({ id: `flagged-run-${i}`, seed: i + 1 })));
  await decide(service, tokens.ada, { runId: 'flagged-run-20', action: 'keep', reason: '<b>&]]>\u0007 \uffff', expectedRevision: 21 });
  const page = await open('/review');
  const address = await page.getAttribute('link[rel=alternate][type="application/atom+xml"]', 'href');
  const read = async () => {
    const response = await service.fetch(address);
    assert.equal(response.headers.get('content-type'), 'application/atom+xml; charset=utf-8');
    assert.equal(response.headers.get('cache-control'), 'no-cache');
    const again = await service.fetch(address, { headers: { 'if-none-match': response.headers.get('etag') } });
    assert.equal(again.status, 304);
    const feed = await parseFeed(page, await response.text());
    assert.deepEqual(feed.root, ['feed', 'http://www.w3.org/2005/Atom']);
    assert.equal(feed.author.length, 1);
    for (const part of [feed, ...feed.entries]) {
      for (const name of ['id', 'title', 'updated']) assert.equal(part[name].length, 1, name);
      assert.ok(!Number.isNaN(Date.parse(part.updated[0])), part.updated[0]);
      assert.match(part.updated[0], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);
      assert.ok(part.links.alternate);
    }
    assert.equal(new Set(feed.entries.map(({ id }) => id[0])).size, feed.entries.length);
    return feed;
  };
  const feed = await read();
  assert.deepEqual(feed.entries.map(({ title }) => title[0]),
    Array.from({ length: 25 }, (_, i) => `Run flagged-run-${26 - i}: text-chunk-mismatch`));
  assert.ok(feed.entries.every(({ id }) => /^urn:sha256:[0-9a-f]{64}$/.test(id[0])));
  assert.match(feed.entries[6].summary[0], /text-chunk-mismatch \(the generated text.*Looked at and kept in quarantine by ada: <b>&\]\]>/);
  assert.equal(feed.updated[0], feed.entries[6].updated[0], 'the last event is the decision');
  await service.restart({ config: { ...service.options.config, public_url: 'https://bench.example' } });
  const known = await read();
  assert.equal(known.id[0], 'https://bench.example/quarantine.atom');
  assert.equal(known.links.self, 'https://bench.example/quarantine.atom');
  assert.equal(known.entries[0].id[0], 'https://bench.example/review/flagged-run-26');
  assert.equal(known.entries[0].links.alternate, 'https://bench.example/review/flagged-run-26');
  settled(page);
});
