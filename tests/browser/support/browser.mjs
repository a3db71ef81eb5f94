// Debian's Chromium, headless, driven by playwright-core. Every page is watched: what it logs as an error,
// what its Content-Security-Policy refuses and what it asks of other hosts fails the test.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const EXECUTABLE = process.env.BENCHLEDGER_CHROMIUM ?? '/usr/bin/chromium';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Where screenshots are kept as test output. */
export const OUTPUT = process.env.BENCHLEDGER_SCREENSHOTS
  ?? fileURLToPath(new URL('../../../build-test/screenshots/', import.meta.url));

/** One browser for the tests of a file, closed when test context T ends. */
export async function startBrowser(t) {
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-gpu',
    '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync'] });
  t.after(() => browser.close());
  return browser;
}

/**
 * A page in a context of its own with OPTIONS of playwright (viewport, colorScheme, javaScriptEnabled ...).
 * `page.complaints` collects errors of the console, exceptions, refusals of the policy and requests that
 * fail; the test ends with `await settled(page)`, which asserts that there are none. HOSTS: those it may talk
 * to beside the first one it visits.
 */
export async function openPage(t, browser, { hosts = [], ...options } = {}) {
  const context = await browser.newContext(options);
  t.after(() => context.close());
  const page = await context.newPage();
  page.complaints = [];
  const complain = (text) => page.complaints.push(text);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complain(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complain(`exception: ${error.stack}`));
  page.on('dialog', (dialog) => {
    complain(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    const { host, protocol } = new URL(request.url());
    if (protocol !== 'http:') return;
    page.host ??= host;
    if (host !== page.host && !hosts.includes(host)) complain(`request to ${host}`);
  });
  return page;
}

export function settled(page) {
  assert.deepEqual(page.complaints, []);
}

/** Keeps a screenshot NAME.png of the whole page, for people to look at. */
export async function screenshot(page, name) {
  mkdirSync(OUTPUT, { recursive: true });
  await page.screenshot({ path: path.join(OUTPUT, `${name}.png`), fullPage: true });
}

/** Serious and critical findings of axe-core, which runs beside the page's policy. */
export async function accessibility(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Page.setBypassCSP', { enabled: true });
  await page.evaluate(AXE);
  const { violations, passes } = await page.evaluate(() => globalThis.axe.run());
  assert.ok(passes.length > 5, 'axe looked at the page');
  await session.send('Page.setBypassCSP', { enabled: false });
  await session.detach();
  return violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

/** Whether anything is wider than the window: what sticks out. */
export function overflow(page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.body.querySelectorAll('*')].filter((node) => !node.closest('.scroll')
      && node.getBoundingClientRect().right > width + 1).slice(0, 5).map((node) => node.outerHTML.slice(0, 120));
  });
}
