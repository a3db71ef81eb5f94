// dataset.js reads index entries by the manifest: from the service, and from a host of static files that changes, lags and lies.
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { makeArchive } from '../support/archive.mjs';
import { sha256 } from '../support/run.mjs';
import { startService } from '../support/service.mjs';

const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-reader-'));
after(() => rmSync(folder, { recursive: true, force: true }));
copyFileSync(new URL('../../pages/assets/dataset.js', import.meta.url), path.join(folder, 'dataset.mjs'));
const { allEntries, entries, leaderboard } = await import(pathToFileURL(path.join(folder, 'dataset.mjs')));

const nameOf = (i) => `index/segments/${String(i + 1).padStart(5, '0')}.json`;
const entryOf = (i) => ({ runId: `run-${i}`, text: '\u00e9\u{1F600}'.repeat(20) });

/** The files of an index whose segments hold LISTS. */
function indexOf(lists, change = {}) {
  const files = {}, segments = lists.map((list, i) => {
    const text = files[nameOf(i)] = JSON.stringify(list);
    return { path: nameOf(i), entries: list.length, bytes: Buffer.byteLength(text), sha256: sha256(text) };
  });
  files['index/manifest.json'] = JSON.stringify({ version: 1, segments, entries: lists.flat().length, flagged: 0, summaryComplete: false,
    summaryEntries: 0, ...change });
  return files;
}

/** Serves HOST.files below /a/b/; HOST.before(name, count) may change them while a request waits. */
async function startHost(t, files) {
  const host = { files, asked: [], now: 0, most: 0, before: async () => {} };
  const server = http.createServer(async (request, response) => {
    const name = request.url.replace('/a/b/', '');
    host.asked.push(name);
    host.most = Math.max(host.most, ++host.now);
    await host.before(name, host.asked.filter((other) => other === name).length);
    await new Promise((wake) => setTimeout(wake, 5));
    host.now--;
    response.writeHead(name in host.files ? 200 : 404).end(host.files[name]);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.closeAllConnections(); server.close(); });
  host.base = `http://127.0.0.1:${server.address().port}/a/b`;
  return host;
}

const lists = Array.from({ length: 12 }, (_, i) => [entryOf(i * 2), entryOf(i * 2 + 1)]);
const refused = (code) => (error) => error.name === 'DatasetError' && error.code === code;

test('a service and the raw files of its repository give all entries in order', async (t) => {
  const service = await startService(t);
  await service.stop();
  rmSync(service.store, { recursive: true });
  const { segments } = await makeArchive(service.store, 700, { entryBytes: 4000, summaryLimit: 100_000 });
  assert.ok(segments >= 3);
  await service.begin();
  const expected = JSON.parse(service.file('index/manifest.json')).segments.flatMap((row) => JSON.parse(service.file(row.path)));
  const host = await startHost(t, Object.fromEntries(service.files().filter((name) => name.startsWith('index/'))
    .map((name) => [name, service.file(name)])));
  for (const base of [service.base, `${service.base}/`, host.base]) assert.deepEqual(await allEntries({ base }), expected);
  const served = await service.fetch('/dataset.js', { headers: { origin: 'https://elsewhere.example' } });
  assert.equal(served.headers.get('access-control-allow-origin'), '*');
  assert.match(served.headers.get('content-type'), /^text\/javascript/);
  assert.equal(await served.text(), await (await service.fetch('/assets/dataset.js')).text());
  await assert.rejects(leaderboard({ base: service.base }), refused('not-found'));
});

test('so many segments are on their way at once as are allowed, and no more than are needed', async (t) => {
  const host = await startHost(t, indexOf(lists));
  assert.deepEqual(await allEntries({ base: host.base, parallel: 3 }), lists.flat());
  assert.equal(host.most, 3);
  host.most = 0;
  host.asked = [];
  for await (const { runId } of entries({ base: host.base, parallel: 1 })) if (runId === 'run-2') break;
  assert.deepEqual([host.most, host.asked], [1, ['index/manifest.json', nameOf(0), nameOf(1)]]);
});

test('an archive without segments is read by its summary', async (t) => {
  const host = await startHost(t, { 'index/summary.json': JSON.stringify(lists.flat()) });
  assert.deepEqual(await allEntries({ base: host.base }), lists.flat());
  host.files = {};
  await assert.rejects(allEntries({ base: host.base }), refused('not-found'));
});

test('runs that come in between are read, too', async (t) => {
  const host = await startHost(t, indexOf(lists));
  const grown = [...lists.slice(0, -1), [...lists.at(-1), entryOf(24)], [entryOf(25)]];
  host.before = async (name) => { if (name === nameOf(6)) host.files = indexOf(grown); };
  assert.deepEqual(await allEntries({ base: host.base }), grown.flat());
});

test('a host that serves an old segment for a while is asked again', async (t) => {
  const host = await startHost(t, indexOf(lists)), sound = host.files[nameOf(4)];
  host.files[nameOf(4)] = '[]';
  host.before = async (name, count) => { if (name === nameOf(4) && count > 2) host.files[name] = sound; };
  assert.deepEqual(await allEntries({ base: host.base }), lists.flat());
});

test('a decision about what was told is told from more runs', async (t) => {
  const edited = [[entryOf(0)], ...lists.slice(1)];
  const host = await startHost(t, indexOf(lists));
  const told = [];
  host.before = async (name) => { if (name === nameOf(5)) host.files = indexOf([...edited.slice(0, -1), [entryOf(24)]]); };
  await assert.rejects(async () => { for await (const { runId } of entries({ base: host.base, parallel: 1 })) told.push(runId); }, refused('changed'));
  assert.equal(told.at(-1), 'run-21');
  host.files = indexOf(lists);
  assert.deepEqual(await allEntries({ base: host.base, parallel: 1 }), [...edited.slice(0, -1), [entryOf(24)]].flat());
});

test('what is not what the manifest says is never told', async (t) => {
  const host = await startHost(t, {}), base = { base: host.base };
  const broken = {
    'another segment': { ...indexOf(lists), [nameOf(0)]: JSON.stringify([entryOf(1), entryOf(0)]) },
    'a segment that is missing': { ...indexOf(lists), [nameOf(0)]: undefined },
    'a count that is wrong': { ...indexOf([[1, 2]]), 'index/manifest.json': indexOf([[1, 2]])['index/manifest.json'].replace('"entries":2,"bytes"', '"entries":3,"bytes"') },
    'a manifest that is no JSON': { 'index/manifest.json': '{' },
    'a path elsewhere': { 'index/manifest.json': JSON.stringify({ version: 1, segments: [{ path: '../x', entries: 1, bytes: 2, sha256: sha256('') }] }) },
    'segments that are none': { 'index/manifest.json': '{"version":1,"segments":[null]}' },
    'a segment beyond all bounds': { 'index/manifest.json': JSON.stringify({ version: 1, segments: [{ path: nameOf(0), entries: 1, bytes: 1e9, sha256: sha256('') }] }) },
    'bytes that are no UTF-8': { 'index/manifest.json': Buffer.from([0x22, 0xff, 0x22]) },
  };
  for (const [what, files] of Object.entries(broken)) {
    host.files = files;
    const told = [];
    await assert.rejects(async () => { for await (const entry of entries(base)) told.push(entry); }, refused('broken'), what);
    assert.deepEqual(told, [], what);
  }
  host.files = indexOf(lists, { version: 2 });
  await assert.rejects(allEntries(base), refused('unsupported'));
  host.files = { 'index/leaderboard.json': '{"rows":[]}' };
  assert.deepEqual(await leaderboard(base), { rows: [] });
});

test('it ends in time, when it is stopped and when nobody answers', async (t) => {
  const host = await startHost(t, indexOf(lists));
  host.before = (name) => (name === nameOf(3) ? new Promise(() => {}) : undefined);
  await assert.rejects(allEntries({ base: host.base, timeoutMs: 50 }), refused('unreachable'));
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 50);
  await assert.rejects(allEntries({ base: host.base, signal: controller.signal }), refused('aborted'));
  await assert.rejects(allEntries({ base: 'http://127.0.0.1:1/' }), refused('unreachable'));
});
