// /client.js against answers that the service never gives: those of a captive portal, a proxy, a broken peer. Runs in
// node, which has what the module needs; real browsers and the real service are in client.test.mjs.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { exportRun, submit } from '../../pages/assets/client.js';

const RUN = { runId: 'run-of-a-test', cells: [] };
const PATH = 'runs/2026/01/run-of-a-test.json';
const COMMIT = 'c'.repeat(40);
const TAKEN = { ok: true, flagged: false, path: PATH, commit: COMMIT };
const json = (body, status = 200, headers = {}) => ({ status, headers, text: JSON.stringify(body) });

/** A peer that answers nonces, and SUBMIT and LOOKUP as told; each is called with how often it was asked. */
async function startPeer(t, { submits = () => json(TAKEN), lookups = () => json({ ok: false, code: 'unknown-run' }, 404),
  nonces = () => json({ nonce: 'n' }) }) {
  const peer = { posts: 0, looks: 0, nonces: 0 };
  const server = http.createServer(async (request, response) => {
    for await (const _ of request); // the whole body
    const { status, headers = {}, text } = request.method === 'POST' ? submits(peer.posts++)
      : request.url.startsWith('/api/bench/nonce') ? nonces(peer.nonces++) : lookups(peer.looks++);
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.close(); server.closeAllConnections(); });
  peer.submit = (options = {}) => submit(RUN, { service: `http://127.0.0.1:${server.address().port}/`, backoffMs: 5, attempts: 4, ...options });
  return peer;
}

const FOREIGN = { 'an empty object': json({}), 'not ok': json({ ok: false }), 'true': json(true), 'a list': json([1]),
  'a login page': { status: 200, headers: { 'Content-Type': 'text/html' }, text: '<h1>Log in' }, 'no commit': json({ ok: true, path: PATH }),
  '202 without a path': json({ ok: true, queued: true }, 202), 'a redirect': { status: 302, headers: { Location: '/api/bench/nonce' }, text: '' } };
for (const [name, answer] of Object.entries(FOREIGN))
  test(`client: ${name} is not success`, async (t) => {
    const peer = await startPeer(t, { submits: () => answer });
    await assert.rejects(peer.submit(), ({ name: kind, away, run }) => kind === 'BenchError' && away && run.runId === RUN.runId);
    const later = await startPeer(t, { submits: (n) => (n ? json(TAKEN) : answer) });
    assert.equal((await later.submit()).outcome, 'published');
    assert.equal(later.looks, 1, 'it was looked up before it was sent again');
  });

for (const [status, code] of [['withdrawn', 'withdrawn'], ['declined', 'store-declined'], ['constructor', 'constructor']])
  test(`client: a known run that is ${status} is not success`, async (t) => {
    const lookups = () => json({ ok: true, status, path: PATH });
    const same = await startPeer(t, { submits: () => json({ ok: false, code: 'duplicate-run', same: true, path: PATH }, 409), lookups });
    await assert.rejects(same.submit(), { name: 'BenchError', code });
    const lost = await startPeer(t, { submits: () => ({ status: 500, text: 'x' }), lookups });
    await assert.rejects(lost.submit(), { name: 'BenchError', code });
    const queued = await startPeer(t, { submits: () => json({ ok: true, queued: true, path: PATH }, 202), lookups });
    await assert.rejects(queued.submit({ follow: true }), { name: 'BenchError', code });
  });

test('client: a page in the place of the look-up is waited out', async (t) => {
  const lookups = (n) => (n < 2 ? { status: 404, headers: { 'Content-Type': 'text/html' }, text: '<h1>' } : json({ ok: true, status: 'published', path: PATH }));
  const peer = await startPeer(t, { submits: () => ({ status: 500, text: 'x' }), lookups });
  const { outcome, recovered } = await peer.submit();
  assert.deepEqual({ outcome, recovered, posts: peer.posts }, { outcome: 'published', recovered: true, posts: 1 });
});

test('client: a run known as queued is said to be so when the service goes away', async (t) => {
  const peer = await startPeer(t, { submits: () => ({ status: 500, text: 'x' }), lookups: () => json({ ok: true, status: 'queued', path: PATH }) });
  await assert.rejects(peer.submit(), ({ details }) => details.queued === true);
});

test('client: however short a wait is asked for, there is a pause, and it is counted', async (t) => {
  const peer = await startPeer(t, { submits: () => json({ ok: false, code: 'rate-limited', retryAfterSec: 1e-6 }, 429) });
  await assert.rejects(peer.submit({ backoffMs: 100, maxWaitSec: 1 }), { code: 'rate-limited' });
  assert.ok(peer.posts <= 11, `${peer.posts} tries`);
});

test('client: Retry-After may be a date', async (t) => {
  const waits = [];
  const date = new Date(Date.now() + 3000).toUTCString();
  const peer = await startPeer(t, { submits: (n) => (n ? json(TAKEN) : json({ ok: false, code: 'busy' }, 429, { 'Retry-After': date })) });
  await peer.submit({ onProgress: ({ stage, seconds }) => { if (stage === 'waiting') waits.push(seconds); } });
  assert.ok(waits.length === 1 && waits[0] >= 1 && waits[0] <= 3, `${waits}`);
});

test('client: a listener that throws changes nothing', async (t) => {
  const peer = await startPeer(t, {});
  assert.equal((await peer.submit({ onProgress: () => { throw new Error('of the page'); } })).outcome, 'published');
  assert.equal(peer.posts, 1);
});

test('client: what is no nonce is not sent', async (t) => {
  const peer = await startPeer(t, { nonces: () => json({ nonce: {} }) });
  await assert.rejects(peer.submit(), { code: 'bad-answer' });
  assert.equal(peer.posts, 0);
});

test('client: a changed run is not exported as a good one', async () => {
  await assert.rejects(exportRun({ ...RUN, digest: '0'.repeat(64) }), { code: 'digest-mismatch' });
  assert.match(JSON.parse(await (await exportRun({ ...RUN, digest: '0'.repeat(64) }, { reseal: true })).text()).digest, /^[1-9a-f]/);
});

for (const place of ['/client.js', '/assets/client.js', '/bench/client.js', '/bench/assets/client.js'])
  test(`client: as ${place} it asks the service that it came from`, async (t) => {
    const source = readFileSync(new URL('../../pages/assets/client.js', import.meta.url), 'utf8');
    const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-client-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = path.join(folder, place);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(file, source);
    const asked = [];
    t.mock.method(globalThis, 'fetch', async (url) => {
      asked.push(String(url));
      return new Response('{"nonce":"n"}', { headers: { 'Content-Type': 'application/json' } });
    });
    const { fetchNonce } = await import(pathToFileURL(file).href);
    await fetchNonce();
    assert.deepEqual(asked, [pathToFileURL(path.join(folder, place.includes('/bench/') ? 'bench' : '', 'api/bench/nonce')).href]);
  });
