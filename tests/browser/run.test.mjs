// The page of a run and the methodology, in Chromium.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { corpusFiles, NO_CORPUS } from '../support/corpus.mjs';
import { startFileRemote } from '../support/remote.mjs';
import { startRemoteService } from '../support/remote_service.mjs';
import { RULE_CASES } from '../support/rule_cases.mjs';
import { makeRun } from '../support/run.mjs';
import { startService } from '../support/service.mjs';
import { accessibility, openPage, overflow, screenshot, settled, startBrowser } from './support/browser.mjs';
import { hostileRun, SHORT } from './support/hostile.mjs';

const ARCHIVED = { protocols: 'localmode-bench/5,localmode-bench/4' };
const PHONE = { viewport: { width: 320, height: 640 } };

async function submitted(service, run) {
  const { status, body } = await service.submit(run);
  assert.equal(status, 200, JSON.stringify(body).slice(0, 500));
  return body;
}

/** Every cell and iteration kind that a run can have. */
const everyKind = (id) => makeRun({ id, cells: ['llm', 'llm-burst', 'embed-single', 'embed-batch', 'quality-mmlu', 'quality-sts',
  'invalid', 'skipped', 'error'] });

/** The derivations of a page: [{text, value}], the text with JavaScript's operators. */
const derivations = (page) => page.$$eval('.derived li', (items) => items.filter((item) => item.querySelector('b'))
  .map((item) => ({ text: item.textContent.split(' = ')[0].replaceAll('\u2212', '-').replaceAll('\u00d7', '*'),
    value: item.querySelector('b').textContent })));

test('every figure follows from its formula to the last bit', { skip: NO_CORPUS }, async (t) => {
  const service = await startService(t, { config: ARCHIVED });
  const page = await openPage(t, await startBrowser(t), { javaScriptEnabled: false });
  let followed = 0;
  for (const file of corpusFiles()) {
    const run = JSON.parse(readFileSync(file, 'utf8'));
    await submitted(service, run);
    await page.goto(`${service.base}/run/${run.runId}`);
    for (const { text, value } of await derivations(page)) {
      if (/^sum over/.test(text)) continue;
      assert.equal(String(Function(`return ${text}`)()), value, `${run.runId}: ${text}`);
      followed++;
    }
    const statuses = await page.$$eval('.cell h3 span.mark', (marks) => marks.map((mark) => mark.textContent));
    assert.deepEqual(statuses, run.cells.map(({ status }) => status));
    const medians = await page.$$eval('.derive p b', (found) => found.map((one) => one.textContent));
    const wanted = run.clientSummaries.flatMap((cell) => Object.values(cell).filter((value) => value?.median !== undefined)
      .map(({ median }) => String(median)));
    for (const median of wanted) assert.ok(medians.includes(median), `${run.runId}: ${median}`);
  }
  t.diagnostic(`${followed} derivations evaluated`);
  assert.ok(followed > 100);
  settled(page);
});

test('nothing of a run is left out', async (t) => {
  const service = await startService(t);
  const page = await openPage(t, await startBrowser(t));
  const run = everyKind('every-kind');
  run.cells[0].discardedIterations = [{ startT: 1, endT: 2.5, gates: ['hidden-tab'] }];
  run.cells[0].attempts = [{ at: 7, error: { name: 'TimeoutError', message: 'stalled', cause: 'lost', causeName: 'Abort', causeStack: 'at x' } }];
  run.cells.push({ ...structuredClone(run.cells[0]), cellId: 'second', workloadId: 'chat-pp512-tg128' });
  run.cells[0].runtimeConfig = { n_threads: 3, worker: true };
  run.events.splice(1, 0, { t: 5100, type: 'visibility-change', detail: 'hidden' }, { t: 5200, type: 'pressure-change', detail: 'fair' },
    { t: 5300, type: 'wakelock-released' });
  await submitted(service, run);
  await page.goto(`${service.base}/run/every-kind`);
  const text = await page.textContent('main');
  for (const word of ['hidden-tab', 'TimeoutError', 'stalled', 'lost', 'at x', 'n_threads', 'visibility-change', 'wakelock-released',
    'e2e', 'skipped', 'invalid', 'error', 'sent by a client, with a nonce', '@localmode/webllm', 'Geometric mean',
    ...run.cells.flatMap(({ invalidReasons = [], error }) => [...invalidReasons, ...(error ? [error.message] : [])])])
    assert.ok(text.includes(word), word);
  const burst = await page.$(`#cell-2`);
  assert.match(await burst.textContent(), /a burst, only its end-to-end rate/);
  assert.doesNotMatch(await (await burst.$('table')).textContent(), /TTFT|Decode/);
  assert.equal(await page.$$eval('svg.stream', (all) => all.length), 9);
  settled(page);
});

test('a run says what it was measured on, and leads to its rows of the board', async (t) => {
  const service = await startService(t);
  const page = await openPage(t, await startBrowser(t));
  await submitted(service, everyKind('measured-on'));
  await page.goto(`${service.base}/run/measured-on`);
  assert.match(await page.title(), /^linux\/nvidia-geforce-rtx-3060: measured-on · /);
  assert.equal(await page.textContent('.measured'),
    'Measured on linux/nvidia-geforce-rtx-3060 with Chrome 141.0 on Linux 6.1: 6 of 9 cells ok');
  const links = await page.$$eval('#results tbody tr', (rows) => rows.map((row) => [...row.querySelectorAll('a')]
    .filter((link) => !link.classList.contains('mark')).map((link) => link.getAttribute('href'))));
  assert.deepEqual(links.map(([cell]) => cell), Array.from({ length: 9 }, (_, i) => `#cell-${i + 1}`));
  assert.equal(links.filter(([, row]) => row).length, 6);
  for (const [, row] of links.filter((pair) => pair[1])) {
    const response = await service.fetch(row);
    assert.equal(response.status, 200, row);
    assert.match(await response.text(), /href="\/run\/measured-on"/);
  }
  const names = await page.$$eval('#results a', (all) => all.filter((link) => !link.matches('.mark, .term'))
    .map((link) => link.ariaLabel ?? link.textContent));
  assert.equal(new Set(names).size, names.length, 'no two links are called the same');
  await page.click('.measured a');
  assert.match(await page.textContent('#count'), /^6 rows from 1 run/);
  settled(page);
});

test('a run that is not on the board has no links to it', async (t) => {
  const service = await startService(t, { config: { ...ARCHIVED, board_protocols: 'localmode-bench/4' } });
  await submitted(service, everyKind('of-another-protocol'));
  const flagged = everyKind('off-the-board');
  flagged.fingerprint = null;
  await submitted(service, flagged);
  for (const id of ['of-another-protocol', 'off-the-board'])
    assert.doesNotMatch(await (await service.fetch(`/run/${id}`)).text(), /href="\/(row)?\?/, id);
});

test('nested members stand under their name, and an error of the only attempt once', async (t) => {
  const service = await startService(t);
  const page = await openPage(t, await startBrowser(t));
  const run = everyKind('said-once');
  const failed = run.cells.find(({ status }) => status === 'error');
  failed.attempts = [{ at: 93649.00499987602, error: structuredClone(failed.error) }];
  await submitted(service, run);
  await page.goto(`${service.base}/run/said-once`);
  const cell = await page.textContent(`#cell-${run.cells.indexOf(failed) + 1}`);
  assert.equal(cell.split(failed.error.message).length, 2);
  assert.match(cell, /At 93\.6 s of the page's clock/);
  const group = page.locator('#harness dt.group', { hasText: 'runtimeVersions' });
  assert.match(await group.evaluate((name) => name.nextElementSibling.textContent), /@localmode\/webllm/);
  assert.match(await page.textContent('#cell-5'), /Task.*Quality.*Questions/);
  assert.doesNotMatch(await page.textContent('#cell-5'), /taskId/);
  settled(page);
});

test('an imported run says so, a quarantined one why', async (t) => {
  const service = await startService(t);
  const page = await openPage(t, await startBrowser(t));
  const run = everyKind('flagged-run');
  run.fingerprint = null;
  run.cells[0].iterations[1].chunks[3].t = 1;
  assert.equal((await submitted(service, run)).flagged, true);
  await page.goto(`${service.base}/run/flagged-run`);
  const verdict = await page.textContent('#verdict');
  assert.match(verdict, /rejects this run/);
  assert.match(verdict, /What to do: /);
  assert.match(verdict, /fingerprint-missing[\s\S]*trace-not-monotonic[\s\S]*before/);
  await page.click('#verdict a[href$="#trace-not-monotonic"]');
  assert.match(page.url(), /\/methodology\/localmode-bench\/5#trace-not-monotonic$/);
  assert.match(await page.textContent('tr#trace-not-monotonic'), /before the one that precedes it/);
  settled(page);
});

test('what is not listed is counted, and what has no usual type is listed', async (t) => {
  const service = await startService(t);
  const page = await openPage(t, await startBrowser(t));
  const run = everyKind('more-than-shown');
  const [cell] = run.cells;
  cell.attempts = Array.from({ length: 20 }, (_, i) => ({ at: i, error: { name: 'Error', message: `try ${i}` } }));
  cell.discardedIterations = Array.from({ length: 15 }, (_, i) => ({ startT: i, endT: i + 1, text: `set aside ${i}` }));
  cell.invalidReasons = Array.from({ length: 130 }, (_, i) => `reason ${i}`);
  run.environment.many = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`member${i}`, i]));
  run.events.splice(1, 0, { t: 5001, type: 'odd', detail: { deep: 'inside' } }, { t: 5002, type: 'more', extra: 'beside' });
  await submitted(service, run);
  await page.goto(`${service.base}/run/more-than-shown`);
  const text = await page.textContent('main');
  for (const word of ['And 8 more attempts', 'And 3 more discarded iterations', 'set aside 0', 'And 30 more reasons', 'more members in the file',
    'deepinside', 'extrabeside']) assert.ok(text.includes(word), word);
  settled(page);
});

test('no page costs or weighs more than what it shows', { timeout: 60_000 }, async (t) => {
  const service = await startService(t);
  const members = (count, value) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, value]));
  const wide = makeRun({ id: 'long-key-above', seed: 3 });
  wide.environment['k'.repeat(2e6)] = members(150_000, 1); // work for each member: minutes
  const escaped = makeRun({ id: 'all-escaped', seed: 4 });
  escaped.cells = Array.from({ length: 8 }, (_, i) => ({ ...structuredClone(escaped.cells[0]), cellId: `c${i}`,
    invalidReasons: Array(100).fill('\u007f'.repeat(4000)) }));
  escaped.clientSummaries = undefined;
  for (const run of [wide, escaped]) {
    await submitted(service, run);
    const started = performance.now();
    const { length } = await (await service.fetch(`/run/${run.runId}`)).text();
    t.diagnostic(`${run.runId}: ${JSON.stringify(run).length} bytes, page of ${length} in ${(performance.now() - started).toFixed(0)} ms`);
    assert.ok(length < 6e6, `${length} bytes`);
  }
});

test('a run that is not public has no page', { timeout: 120_000 }, async (t) => {
  const remote = startFileRemote(t, { hooks: { 'pre-receive':
    'while read -r old new ref; do git diff "$old" "$new" | grep -q UNWANTED && { echo "error: GH013: found a secret" >&2; exit 1; }; done; exit 0' } });
  const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 20_000 } });
  await service.ready();
  const unwanted = makeRun({ id: 'declined-run', seed: 5 });
  unwanted.environment.note = 'UNWANTED';
  assert.equal((await service.submit(unwanted)).status, 422);
  assert.equal((await service.json('/api/bench/runs/declined-run')).body.status, 'declined');
  remote.vanish();
  await service.restart({ config: { submit_wait_ms: 2500, remote_timeout_ms: 2000 } });
  await service.submit(makeRun({ id: 'queued-run', seed: 6 }));
  for (const [id, status, word] of [['declined-run', 404, 'Declined'], ['queued-run', 200, 'On its way']]) {
    const response = await service.fetch(`/run/${id}`), markup = await response.text();
    assert.equal(response.status, status, id);
    assert.match(markup, new RegExp(word));
    assert.doesNotMatch(markup, /UNWANTED|<article/);
  }
});

test('the methodology says of every rule how grave it can be, as the rules act', async (t) => {
  const service = await startService(t);
  const acts = {};
  for (const [code, severity] of RULE_CASES.flatMap(({ flags }) => flags)) (acts[code] ??= new Set()).add(severity);
  for (const place of ['/methodology/localmode-bench/5', '/check']) {
    const html = await (await service.fetch(place)).text();
    const rules = html.match(place === '/check' ? /<div data-rule=[^]*?<\/dd>/g : /<tr id=[^]*?<\/tr>/g);
    const said = Object.fromEntries(rules.map((rule) => [rule.match(/<code>(.*?)</)[1],
      [...rule.matchAll(/class="mark (?:bad|warn)">(\w+)</g)].map(([, word]) => word).sort()]));
    assert.deepEqual(said, Object.fromEntries(Object.entries(acts).map(([code, set]) => [code, [...set].sort()])));
  }
  assert.match(await (await service.fetch('/methodology/localmode-bench/5')).text(), /warp as a whole word.*rejects when an ok cell was measured on the GPU/);
});

test('there is a page for what is not there', async (t) => {
  const service = await startService(t);
  for (const place of ['/run/never-seen', '/run/%3Cscript%3E', '/methodology/other/1', '/methodology/localmode-bench/999']) {
    const response = await service.fetch(place);
    assert.equal(response.status, 404, place);
    assert.match(response.headers.get('content-type'), /text\/html/);
    assert.doesNotMatch(await response.text(), /<script>/);
  }
});

test('hostile strings stay text, and in their place', async (t) => {
  const service = await startService(t);
  const browser = await startBrowser(t);
  for (let kind = 0; kind < SHORT.length; kind++) {
    const id = `hostile-run-${kind}`;
    await submitted(service, hostileRun(id, kind));
    for (const options of [{}, PHONE]) {
      const page = await openPage(t, browser, options);
      await page.goto(`${service.base}/run/${id}`);
      await page.$$eval('details', (all) => all.forEach((one) => { one.open = true; }));
      assert.equal(await page.evaluate(() => globalThis.broken), undefined);
      assert.deepEqual(await page.$$eval('main img, main script, main [onload], main [onerror]', (all) => all.map(({ outerHTML }) => outerHTML)), []);
      assert.deepEqual(await overflow(page), []);
      assert.doesNotMatch(await page.textContent('main'), /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u0000\u0007\u001b]/);
      if (kind === 0) await screenshot(page, `run-hostile-${options.viewport?.width ?? 1280}`);
      settled(page);
      await page.context().close();
    }
  }
});

test('the page is for everybody: phone, dark, keyboard, screen reader', async (t) => {
  const service = await startService(t);
  const browser = await startBrowser(t);
  await submitted(service, everyKind('for-everybody'));
  for (const place of ['/run/for-everybody', '/methodology', '/methodology/localmode-bench/5', '/run/never-seen']) {
    for (const options of [{}, { colorScheme: 'dark' }, PHONE]) {
      const page = await openPage(t, browser, options);
      await page.goto(service.base + place);
      assert.deepEqual(await accessibility(page), [], place);
      assert.deepEqual(await overflow(page), [], place);
      await screenshot(page, `${place.split('/').slice(1).join('-')}-${options.colorScheme ?? options.viewport?.width ?? 'light'}`);
      if (place !== '/run/never-seen') settled(page);
      await page.context().close();
    }
  }
  const page = await openPage(t, browser);
  await page.goto(`${service.base}/run/for-everybody`);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to content');
  await page.keyboard.press('Enter');
  const reached = async (selector) => {
    for (let i = 0; i < 200; i++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return true;
    }
    return false;
  };
  assert.ok(await reached('.derive > summary'));
  await page.keyboard.press('Enter');
  assert.ok(await page.evaluate(() => document.activeElement.parentElement.open));
  settled(page);
});

test('pages come from memory, packed and with a tag, and no page is heavy', async (t) => {
  const service = await startService(t);
  const heavy = makeRun({ id: 'heavy-run', suite: 'thorough', cells: Array(24).fill('llm'), iterations: 5, chunks: 480 });
  heavy.cells.forEach((cell, i) => {
    cell.cellId += `#${i}`;
  });
  heavy.clientSummaries = undefined;
  t.diagnostic(`a run file of ${JSON.stringify(heavy).length} bytes`);
  await submitted(service, heavy);
  await submitted(service, everyKind('light-run'));
  for (const place of ['/run/heavy-run', '/run/light-run', '/methodology', '/methodology/localmode-bench/5']) {
    const first = await service.fetch(place);
    const markup = await first.text();
    const assets = [...markup.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, found]) => found);
    let bytes = 0;
    for (const one of [place, ...assets]) {
      const started = performance.now();
      const response = await service.fetch(one, { headers: { 'accept-encoding': 'gzip' } });
      const ms = performance.now() - started;
      const length = Number(response.headers.get('content-length'));
      bytes += length;
      await response.arrayBuffer();
      t.diagnostic(`${one}: ${length} bytes, ${response.headers.get('content-encoding')}, first byte ${ms.toFixed(1)} ms`);
    }
    assert.ok(bytes < 150 * 1024, `${place} weighs ${bytes} bytes`);
    const again = await service.fetch(place, { headers: { 'if-none-match': first.headers.get('etag') } });
    assert.equal(again.status, 304);
    assert.equal(first.headers.get('x-frame-options'), 'DENY');
    assert.match(first.headers.get('content-security-policy'), /default-src 'none'.*frame-ancestors 'none'/);
    assert.doesNotMatch(first.headers.get('content-security-policy'), /unsafe/);
    assert.equal(first.headers.get('set-cookie'), null);
  }
});
