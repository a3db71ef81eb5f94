// How the board and its figures are laid out, wide and narrow, and that a figure reads the same on every page.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, after, test } from 'node:test';
import { boardEntries, makeBoard } from '../support/boards.mjs';
import { makeRun } from '../support/run.mjs';
import { startService } from '../support/service.mjs';
import { openPage, settled, startBrowser } from './support/browser.mjs';
import { DECIMALS } from './support/figures.mjs';

const cleanups = [];
const all = { after: (work) => cleanups.push(work) };
let browser, service;

before(async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-board-'));
  all.after(() => rmSync(folder, { recursive: true, force: true }));
  browser = await startBrowser(all);
  service = await startService(all, { store: makeBoard(path.join(folder, 'board.git'), boardEntries(4)) });
});
after(async () => {
  for (const work of cleanups.reverse()) await work();
});

async function open(t, place, width, { of = service, ...options } = {}) {
  const page = await openPage(t, browser, { viewport: { width, height: 900 }, ...options });
  t.after(() => settled(page));
  await page.goto(of.base + place);
  return page;
}

/** Cards of the table TABLE: {name, values: {label: {text, right, left}}} of what is visible. */
const cards = (page, table) => page.$$eval(`${table} tbody tr`, (rows) => rows.slice(0, 12).map((row) => ({
  name: row.querySelector('th').textContent,
  names: [...row.querySelectorAll('td:not([data-of])')].filter((cell) => cell.checkVisibility()).map(({ textContent }) => textContent),
  values: [...row.querySelectorAll('td[data-of]')].map((cell) => {
    const { left, right } = cell.getBoundingClientRect();
    return { label: getComputedStyle(cell, '::before').content, of: cell.dataset.of, text: cell.textContent, left, right };
  }) })));

function assertCards(found, width) {
  assert.ok(found.length > 1);
  for (const { name, values } of found) {
    assert.ok(values.some(({ text }) => /\d/.test(text)), `${name} shows a number`);
    for (const { label, of, text, left, right } of values) {
      assert.equal(label, JSON.stringify(of));
      assert.ok(text !== '' && left >= 0 && right <= width, `${name}: ${of} ${text} from ${left} to ${right}`);
    }
  }
}

for (const width of [1280, 1920])
  test(`every column of the whole board is on a screen of ${width} pixels`, async (t) => {
    const page = await open(t, '/', width);
    assert.equal(await page.$$eval('.board thead th', ({ length }) => length), 13);
    const { inside, outside, cut } = await page.$eval('.rows', (region) => ({ inside: region.scrollWidth, outside: region.clientWidth,
      cut: [...region.querySelectorAll('thead th')].filter((head) => head.scrollWidth > head.clientWidth).map(({ textContent }) => textContent) }));
    assert.ok(inside <= outside, `${inside} in ${outside}`);
    assert.deepEqual(cut, []);
  });

test('on a phone every row is a card with the figures that it has, called by their names', async (t) => {
  for (const width of [320, 600]) {
    assertCards(await cards(await open(t, '/', width), '.board'), width);
    const narrowed = await cards(await open(t, '/?runtimeId=webllm&workloadId=chat-multi-turn', width), '.board');
    assertCards(narrowed, width);
    for (const { names } of narrowed) assert.equal(names.filter(Boolean).length, 1, 'what a filter fixes is not said again');
  }
  const wide = await open(t, '/', 1280);
  assert.equal(await wide.$eval('.board td[data-of]', (cell) => getComputedStyle(cell, '::before').content), 'none');
});

test('on a phone the navigation is one line, and the header is as high on every page', async (t) => {
  for (const width of [320, 1280]) {
    const heights = new Set();
    for (const place of ['/', '/check', '/methodology/localmode-bench/5', '/run/none']) {
      const page = await openPage(t, browser, { viewport: { width, height: 900 } });
      await page.goto(service.base + place);
      heights.add(await page.$eval('.top', (top) => top.getBoundingClientRect().height));
      assert.equal(await page.$$eval('.top a', (links) => new Set(links.map((link) => Math.round(link.getBoundingClientRect().bottom))).size <= 2), true);
      assert.equal(await page.$eval('.top nav', (nav) => nav.clientHeight < 55), true, `${place} at ${width}`);
    }
    assert.equal(heights.size, 1, [...heights].join());
  }
});

test('a figure reads the same on the board, in its row and on the page of its run', async (t) => {
  const own = await startService(t);
  const run = makeRun({ id: 'read-everywhere', cells: ['llm', 'embed-single', 'embed-batch', 'quality-mmlu'] });
  assert.equal((await own.submit(run)).status, 200);
  const board = await open(t, '/', 1280, { of: own });
  const shown = await board.$$eval('.board tbody tr', (rows) => rows.map((row) => ({ link: row.querySelector('a').getAttribute('href'),
    figures: [...row.querySelectorAll('td[data-of]')].slice(1).map((cell) => `${cell.dataset.of}: ${cell.firstChild.data}`) })));
  assert.equal(shown.length, 4);
  const page = await open(t, '/run/read-everywhere', 1280, { of: own });
  const results = await page.$$eval('#results tbody tr', (rows) => rows.map((row) => ({
    link: row.querySelector('a[href^="/row?"]').getAttribute('href'),
    figures: [...row.querySelectorAll('td.number')].map((cell) => `${cell.dataset.of}: ${cell.textContent}`) })));
  for (const { link, figures } of shown) {
    const [result] = results.filter((row) => row.link === link);
    assert.deepEqual([...result.figures].sort(),
      figures.map((text) => text.replace(/^(Cold|Warm) load/, 'Load')).sort());
    const row = await open(t, link, 1280, { of: own });
    const heads = await row.$$eval('.strips figcaption', (captions) => captions.map((caption) => caption.querySelector('b').textContent));
    assert.deepEqual(heads.filter((text) => !figures.some((one) => one.endsWith(` ${text}`))).length <= 1, true, 'but the parse rate');
    await row.context().close();
  }
  assert.equal(new Set(Object.values(DECIMALS)).size, 3);
});

test('on a phone the filters fold away, and say so', async (t) => {
  const page = await open(t, '/', 320);
  assert.equal(await page.isVisible('#f-q'), false);
  await page.click('.filters summary');
  await page.selectOption('#f-runtimeId', 'webllm');
  await page.waitForFunction(() => document.querySelector('#count').textContent.startsWith('80 '));
  assert.equal(await page.isVisible('#f-q'), true);
});
