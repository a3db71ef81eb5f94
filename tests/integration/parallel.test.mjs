// Many submissions at once, and an end in the middle of them.
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { assertSound } from '../support/audit.mjs';
import { canonical, makeRun, seal, sha256 } from '../support/run.mjs';
import { holdCommitLock, raw, readLedger, sleep, startService } from '../support/service.mjs';

const number = (i) => String(i).padStart(4, '0');

/** Which commits added each run file. */
function commitsByPath(service) {
  const found = new Map();
  const log = service.git('log', '--diff-filter=A', '--format=commit %H', '--name-only', '--',
    'runs', 'quarantine');
  let commit = null;
  for (const line of log.split('\n')) {
    if (line.startsWith('commit ')) commit = line.slice(7);
    else if (line) found.set(line, [...(found.get(line) ?? []), commit]);
  }
  return found;
}

function checkAgreement(service, paths) {
  const events = readLedger(service, { canonical, sha256 });
  const files = service.files().filter((name) => /^(runs|quarantine)\//.test(name));
  const summary = JSON.parse(service.file('index/summary.json'));
  const manifest = JSON.parse(service.file('index/manifest.json'));
  const segments = manifest.segments.flatMap((row) => JSON.parse(service.file(row.path)));
  const sorted = (list) => [...list].sort();
  assert.deepEqual(sorted(files), sorted(events.map((event) => event.path)));
  assert.deepEqual(summary.map((entry) => entry.path), events.map((event) => event.path));
  assert.deepEqual(segments, summary);
  assert.equal(manifest.entries, summary.length);
  if (paths) assert.deepEqual(sorted(files), sorted(paths));
  service.git('fsck', '--full', '--strict');
  assertSound(service.store);
  return events;
}

test('200 parallel submissions all land, each in exactly one commit', async (t) => {
  const service = await startService(t);
  const sealed = await Promise.all(Array.from({ length: 200 }, async (_, i) =>
    seal(makeRun({ id: `parallel-run-${number(i)}`, seed: i, cells: ['llm', 'embed-single'] }),
      await service.nonce())));
  const answers = await Promise.all(sealed.map((run) => service.post(run)));
  for (const answer of answers) assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const paths = answers.map((answer) => answer.body.path);
  const byPath = commitsByPath(service);
  for (const { body } of answers) assert.deepEqual(byPath.get(body.path), [body.commit]);
  checkAgreement(service, paths);
  const commits = Number(service.git('rev-list', '--count', 'HEAD'));
  t.diagnostic(`200 submissions in ${commits - 1} commits`);
  assert.ok(commits < 150, 'submissions that wait share a commit');
  assert.equal((await service.json('/api/bench/leaderboard')).body.runs, 200);
});

test('one run and one nonce from many clients at once: one wins', async (t) => {
  const service = await startService(t);
  const run = seal(makeRun({ id: 'contested-run-1' }), await service.nonce());
  const same = await Promise.all(Array.from({ length: 20 }, () => service.post(run)));
  assert.equal(same.filter((answer) => answer.status === 200).length, 1);
  for (const answer of same.filter((one) => one.status !== 200)) {
    assert.equal(answer.body.code, 'duplicate-run');
    assert.equal(answer.body.same, true);
  }
  const nonce = await service.nonce();
  const others = await Promise.all(Array.from({ length: 20 }, (_, i) =>
    service.post(seal(makeRun({ id: `one-nonce-${number(i)}`, seed: i }), nonce))));
  assert.equal(others.filter((answer) => answer.status === 200).length, 1);
  assert.equal(others.filter((answer) => answer.body.code === 'nonce-used').length, 19);
  assert.equal(checkAgreement(service).length, 2);
});

test('a stop in the middle answers or refuses everybody and loses nothing', async (t) => {
  const service = await startService(t);
  const sealed = await Promise.all(Array.from({ length: 120 }, async (_, i) =>
    seal(makeRun({ id: `stopped-run-${number(i)}`, seed: i }), await service.nonce())));
  const posts = sealed.map((run) => service.post(run).catch((error) => ({ error })));
  await Promise.race(posts);
  const ended = await service.stop('SIGTERM');
  assert.deepEqual(ended, { code: 0, signal: null });
  const answers = await Promise.all(posts);
  const stored = answers.filter((answer) => answer.status === 200);
  assert.ok(stored.length > 0);
  t.diagnostic(`${stored.length} of 120 stored before the end`);
  const events = checkAgreement(service);
  const known = new Set(events.map((event) => event.path));
  for (const answer of stored) assert.ok(known.has(answer.body.path));
  await service.begin();
  for (const [i, run] of sealed.entries()) { /* nothing stays half done */
    const again = await service.post(run);
    const wanted = known.has(`runs/2026/01/stopped-run-${number(i)}.json`) ? 409 : 200;
    assert.equal(again.status, wanted, JSON.stringify(again.body));
  }
});

test('a stop waits for a body on its way, and not for idle connections', async (t) => {
  const service = await startService(t);
  const body = JSON.stringify(seal(makeRun({ id: 'last-run-00001' }), await service.nonce()));
  const half = Math.floor(body.length / 2);
  const idle = raw(service.port, ['GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'], { timeout: 20000 });
  const sending = raw(service.port, ['POST /api/bench/submit HTTP/1.1\r\nHost: x\r\n',
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    body.slice(0, half), 800, body.slice(half)]);
  await sleep(300);
  const started = Date.now();
  assert.deepEqual(await service.stop('SIGINT'), { code: 0, signal: null });
  assert.ok(Date.now() - started < 5000);
  const answer = await sending;
  assert.match(answer.text, /^HTTP\/1.1 200 /);
  assert.match(answer.text, /Connection: close/i);
  assert.ok((await idle).closed);
  assert.ok(service.files().includes('runs/2026/01/last-run-00001.json'));
});

test('a commit that takes too long is 503, never a false success', async (t) => {
  const service = await startService(t, { config: { submit_wait_ms: 200 } });
  const sealed = await Promise.all(Array.from({ length: 20 }, async (_, i) =>
    seal(makeRun({ id: `impatient-${number(i)}`, seed: i }), await service.nonce())));
  const release = await holdCommitLock(service);
  for (let round = 0; round < 2; round++) { /* the second time as one that joins */
    for (const answer of await Promise.all(sealed.map((run) => service.post(run)))) {
      assert.equal(answer.status, 503, JSON.stringify(answer.body));
      assert.equal(answer.body.code, 'store-unavailable');
      assert.ok(Number(answer.headers.get('retry-after')) > 0);
    }
  }
  await release();
  await service.restart({ config: {} });
  for (const run of sealed) {
    const again = await service.post(run);
    assert.equal(again.status, 409);
    assert.equal(again.body.same, true);
  }
  assert.equal(checkAgreement(service).length, 20);
});

test('killed before the commit, nobody was told that his run is accepted', async (t) => {
  const service = await startService(t, { env: { BENCH_NONCE_SECRET: 'outlives the process' } });
  const release = await holdCommitLock(service);
  const run = seal(makeRun({ id: 'killed-run-001' }), await service.nonce());
  const answers = [];
  const posts = Array.from({ length: 5 }, () =>
    service.post(run).then((answer) => answers.push(answer), () => {}));
  await sleep(500);
  await service.stop('SIGKILL');
  await Promise.all(posts);
  assert.deepEqual(answers, []);
  await release();
  await service.begin();
  assert.equal((await service.post(run)).status, 200);
});

test('a commit that fails after the answer gives the budget back', async (t) => {
  const service = await startService(t, { config: { submit_wait_ms: 200, accepted_per_hour: 1 } });
  const release = await holdCommitLock(service);
  const first = seal(makeRun({ id: 'unlucky-run-01', seed: 1 }), await service.nonce());
  const joined = seal(first, await service.nonce());
  for (const answer of await Promise.all([service.post(first), service.post(joined)]))
    assert.equal(answer.status, 503);
  const objects = path.join(service.store, 'objects');
  renameSync(objects, `${objects}.away`);
  await release();
  for (let i = 0; i < 100 && !service.log.includes('store failed'); i++) await sleep(50);
  renameSync(`${objects}.away`, objects);
  assert.match(service.log, /store failed/);
  let again;
  for (let i = 0; i < 50; i++) { /* the store looks after itself every second */
    again = await service.post(first);
    if (again.status !== 503) break;
    await sleep(100);
  }
  assert.ok(again.status === 200 || again.body.same, JSON.stringify(again.body));
});

test('a submission waits suspended while another writer holds the store', async (t) => {
  const service = await startService(t, {
    config: { idle_timeout_s: 1, header_timeout_s: 1, threads: 1, queue_limit: 3 },
  });
  const sealed = await Promise.all(Array.from({ length: 6 }, async (_, i) =>
    seal(makeRun({ id: `suspended-${number(i)}`, seed: i }), await service.nonce())));
  const release = await holdCommitLock(service);
  const first = service.post(sealed[0]);
  await sleep(300); /* it is being committed now, the next three queue */
  const queued = [1, 2].map((i) => service.post(sealed[i]));
  await sleep(300);
  assert.equal((await service.json('/readyz')).status, 200, 'one more would be taken');
  queued.push(service.post(sealed[3]));
  await sleep(300);
  const full = await service.post(sealed[4]);
  assert.equal(full.status, 503, JSON.stringify(full.body));
  assert.equal(full.body.code, 'store-unavailable');
  assert.ok(Number(full.headers.get('retry-after')) > 0);
  const ready = await service.json('/readyz');
  assert.equal(ready.status, 503);
  assert.match(ready.body.reasons[0], /^queue-full/);
  assert.equal((await service.json(`/api/bench/runs/${sealed[1].runId}`)).body.status, 'queued');
  let told = false;
  const same = service.post(sealed[1]).finally(() => { told = true; });
  const twin = await service.post(seal(makeRun({ id: sealed[1].runId, seed: 99 }), await service.nonce()));
  assert.equal(twin.status, 409); /* another digest is told at once */
  assert.equal(twin.body.same, false);
  assert.equal((await service.json('/api/bench/leaderboard')).status, 200); /* nobody else waits */
  await sleep(2500); /* longer than the connection may idle */
  assert.equal(told, false, 'nobody hears of a run that is not durable');
  await release();
  for (const answer of await Promise.all([first, ...queued])) assert.equal(answer.status, 200);
  assert.equal((await same).status, 409);
  assert.equal((await same).body.same, true);
  assert.equal((await same).body.path, `runs/2026/01/${sealed[1].runId}.json`);
  assert.equal((await service.post(sealed[4])).status, 200); /* its nonce was given back */
  assert.equal((await service.json('/readyz')).status, 200);
  checkAgreement(service);
});

test('a client that goes away leaves its run and no trouble', async (t) => {
  const service = await startService(t);
  const release = await holdCommitLock(service);
  const body = JSON.stringify(seal(makeRun({ id: 'orphan-run-001' }), await service.nonce()));
  const left = await raw(service.port, ['POST /api/bench/submit HTTP/1.1\r\nHost: x\r\n',
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`, body],
  { timeout: 300 });
  assert.equal(left.text, '');
  await release();
  for (let i = 0; i < 100; i++) {
    const state = await service.json('/api/bench/runs/orphan-run-001');
    if (state.body.status === 'published') break;
    await sleep(50);
  }
  assert.equal((await service.post(body)).body.same, true);
  assert.deepEqual(await service.stop(), { code: 0, signal: null });
});

test('a wait that ends before the commit is 503, and the late commit counts', async (t) => {
  const service = await startService(t, { config: { submit_wait_ms: 400 } });
  const release = await holdCommitLock(service);
  const run = seal(makeRun({ id: 'late-run-00001' }), await service.nonce());
  const started = Date.now();
  const answer = await service.post(run);
  assert.equal(answer.status, 503);
  assert.equal(answer.body.code, 'store-unavailable');
  assert.ok(Date.now() - started < 2000);
  /* The service stops while the commit is still held: it commits before it ends. */
  const ended = service.stop();
  await sleep(300);
  await release();
  assert.deepEqual(await ended, { code: 0, signal: null });
  assert.equal(checkAgreement(service).length, 1);
});
