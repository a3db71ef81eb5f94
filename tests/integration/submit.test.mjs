// Point 5 of the main job: nonce, submit, and every refusal of the intake, through HTTP.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RULES_VERSION } from '../bench/baseline/rules.mjs';
import { canonical, digestOf, makeRun, seal, sha256 } from '../support/run.mjs';
import { holdCommitLock, makeNonce, readLedger, startService } from '../support/service.mjs';

const refused = (answer, status, code) => {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.body.ok, false);
  assert.equal(answer.body.code, code);
  assert.equal(typeof answer.body.message, 'string');
  return answer.body;
};

test('a run is verified, committed, indexed and shown', async (t) => {
  const service = await startService(t, { config: { public_url: 'https://bench.example' } });
  const run = makeRun({ id: 'first-run-0001' });
  const sealed = seal(run, await service.nonce());
  const answer = await service.post(sealed);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const body = answer.body;
  assert.deepEqual({ ok: body.ok, flagged: body.flagged, flags: body.flags, path: body.path,
    url: body.url, rules: body.rulesVersion },
  { ok: true, flagged: false, flags: [], path: 'runs/2026/01/first-run-0001.json',
    url: 'https://bench.example/runs/2026/01/first-run-0001.json', rules: RULES_VERSION });
  assert.equal(body.commit, service.git('rev-parse', 'HEAD').trim());
  assert.equal('receipt' in body, false);

  await t.test('repository, index, ledger and board agree', async () => {
    const bytes = service.file(body.path);
    const { nonce, ...published } = sealed;
    assert.equal(bytes.toString(), JSON.stringify(published));
    assert.equal(digestOf(JSON.parse(bytes)), sealed.digest);
    const served = await service.fetch(`/${body.path}`);
    assert.equal(await served.text(), bytes.toString());
    const summary = JSON.parse(service.file('index/summary.json'));
    assert.equal(summary.length, 1);
    assert.equal(summary[0].runId, run.runId);
    const [event] = readLedger(service, { canonical, sha256 });
    assert.equal(event.event, 'accept');
    assert.equal(event.runId, run.runId);
    assert.equal(event.path, body.path);
    assert.equal(event.submittedDigest, sealed.digest);
    assert.equal(event.nonceSha256, sha256(nonce));
    const board = (await service.json('/api/bench/leaderboard')).body;
    assert.equal(board.runs, 1);
    assert.equal(board.entries, 1);
    assert.equal(board.recentSubmissions[0].runId, run.runId);
    assert.ok(board.rows.length >= 3);
    assert.ok(board.rows.every((row) => row.submissions === 1 && row.provisional));
  });

  await t.test('its status is known', async () => {
    const state = (await service.json(`/api/bench/runs/${run.runId}`)).body;
    assert.equal(state.status, 'published');
    assert.equal(state.path, body.path);
    assert.equal(state.commit, body.commit);
    assert.equal(state.revision, 1);
    assert.deepEqual(state.flags, []);
    assert.match(state.submittedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const own = await service.json(`/api/bench/runs/${run.runId}?digest=${sealed.digest}`);
    assert.equal(own.status, 200);
    refused(await service.json(`/api/bench/runs/${run.runId}?digest=${'0'.repeat(64)}`), 404,
      'unknown-run');
    refused(await service.json('/api/bench/runs/nobody-knows-it'), 404, 'unknown-run');
    refused(await service.json(`/api/bench/runs/${'x'.repeat(100)}`), 404, 'unknown-run');
  });

  await t.test('the same run again is a duplicate that is the same', async () => {
    const again = refused(await service.post(sealed), 409, 'duplicate-run');
    assert.equal(again.same, true);
    assert.equal(again.path, body.path);
    assert.equal(refused(await service.submit(run), 409, 'duplicate-run').same, true);
  });

  await t.test('its nonce is spent for every other run', async () => {
    const other = seal(makeRun({ id: 'other-run-0001', seed: 2 }), sealed.nonce);
    refused(await service.post(other), 409, 'nonce-used');
  });

  await t.test('its id is taken, in any month and letter case', async () => {
    for (const change of [{ createdAt: '2026-02-15T12:00:00.000Z' }, { id: 'FIRST-run-0001' }]) {
      const twin = makeRun({ id: run.runId, seed: 3, ...change });
      const answered = refused(await service.submit(twin), 409, 'duplicate-run');
      assert.equal(answered.same, false);
      assert.equal(answered.path, body.path);
    }
    assert.equal(service.git('rev-list', '--count', 'HEAD').trim(),
      service.git('rev-list', '--count', body.commit).trim());
  });

  await t.test('all of it survives a restart', async () => {
    await service.restart();
    assert.equal(refused(await service.submit(run), 409, 'duplicate-run').same, true);
    const other = seal(makeRun({ id: 'other-run-0001', seed: 2 }), sealed.nonce);
    refused(await service.post(other), 409, 'nonce-used');
    assert.equal((await service.json('/api/bench/leaderboard')).body.runs, 1);
    assert.equal((await service.json(`/api/bench/runs/${run.runId}`)).body.status, 'published');
  });
});

test('a flagged run is quarantined and not on the board', async (t) => {
  const service = await startService(t);
  const run = makeRun({ id: 'flagged-run-01' });
  run.fingerprint = null;
  const answer = await service.submit(run);
  assert.equal(answer.status, 200);
  assert.equal(answer.body.flagged, true);
  assert.equal(answer.body.path, 'quarantine/2026/01/flagged-run-01.json');
  assert.equal(answer.body.flags[0].code, 'fingerprint-missing');
  const board = (await service.json('/api/bench/leaderboard')).body;
  assert.equal(board.runs, 0);
  assert.equal(board.entries, 1);
  const state = (await service.json('/api/bench/runs/flagged-run-01')).body;
  assert.equal(state.status, 'quarantined');
  assert.deepEqual(state.flags, answer.body.flags);
  assert.equal((await service.fetch('/quarantine/2026/01/flagged-run-01.json')).status, 200);
  assert.equal((await service.fetch('/runs/2026/01/flagged-run-01.json')).status, 404);
});

test('flags are objects and rules have a version, in every state of a run', async (t) => {
  const service = await startService(t);
  const run = makeRun({ id: 'flagged-run-02' });
  run.fingerprint = null;
  const release = await holdCommitLock(service);
  const waiting = service.submit(run);
  let state;
  for (state = {}; state.status !== 'queued';)
    state = (await service.json(`/api/bench/runs/${run.runId}`)).body;
  await release();
  const { flags } = (await waiting).body;
  assert.equal(flags[0].severity, 'reject');
  assert.deepEqual([state.flags, state.rulesVersion], [flags, RULES_VERSION]);
  /* An archive has run files that no ledger knows. */
  await service.stop();
  service.replace((git) => git('rm', '-r', '-q', '--cached', 'ledger'));
  await service.begin();
  for (let i = 0; i < 2; i++) {
    state = (await service.json(`/api/bench/runs/${run.runId}`)).body;
    assert.equal(state.status, 'quarantined');
    assert.deepEqual([state.flags, state.rulesVersion, state.revision], [flags, RULES_VERSION, 0]);
  }
});

test('a large run is judged once for all who ask', async (t) => {
  const service = await startService(t);
  const run = makeRun({ id: 'large-run-00001', cells: ['llm'], iterations: 20, chunks: 3000 });
  const taken = await service.submit(run);
  assert.equal(taken.status, 200, JSON.stringify(taken.body));
  const times = [];
  for (let i = 0; i < 11; i++) {
    const started = performance.now();
    assert.equal((await service.json(`/api/bench/runs/${run.runId}`)).status, 200);
    times.push(performance.now() - started);
  }
  const [first, ...others] = times;
  const usual = others.sort((a, b) => a - b)[5];
  assert.ok(usual < first / 3, `first ${first} ms, then ${usual} ms`);
});

test('what must not be public is scrubbed before the first commit', async (t) => {
  const service = await startService(t);
  const run = makeRun({ id: 'scrubbed-run-1', schemaVersion: 2 });
  run.environment.languages = ['de-DE', 'en'];
  run.environment.locale = { locale: 'de-DE', timeZone: 'Europe/Berlin' };
  const sealed = seal(run, await service.nonce());
  const answer = await service.post(sealed);
  assert.equal(answer.status, 200);
  const published = JSON.parse(service.file(answer.body.path));
  assert.equal(published.environment.languages, undefined);
  assert.deepEqual(published.environment.locale, { locale: 'de-DE' });
  assert.equal(published.schemaVersion, 3);
  assert.equal(published.digest, digestOf(published));
  assert.notEqual(published.digest, sealed.digest);
  const all = service.git('log', '-p', '--all');
  assert.ok(!all.includes('Europe/Berlin') && !all.includes(sealed.nonce));
  /* The client knows its own digest, not the published one. */
  assert.equal(refused(await service.post(sealed), 409, 'duplicate-run').same, true);
});

test('refusals come with their code, in the order of the steps', async (t) => {
  const secret = 'a secret of this test';
  const service = await startService(t, {
    env: { BENCH_NONCE_SECRET: secret, BENCH_NONCE_SECRET_PREVIOUS: 'the one before' },
  });
  const run = makeRun({ id: 'refused-run-01' });
  const fresh = () => makeNonce(secret);

  const json = refused(await service.post('{"a":1,\n  "b": tru}'), 400, 'invalid-json');
  assert.equal(json.line, 2);
  assert.equal(typeof json.column, 'number');
  assert.equal(typeof json.offset, 'number');
  refused(await service.post(''), 400, 'invalid-json');

  refused(await service.post(seal(run)), 403, 'invalid-nonce');
  refused(await service.post('[]'), 403, 'invalid-nonce');
  const day = 24 * 3600 * 1000;
  for (const nonce of [makeNonce(secret, Date.now() - day - 1000), makeNonce(secret, Date.now() + 61000),
    makeNonce('foreign'), `dev.${Date.now()}.00112233445566778899aabbccddeeff`, 'nonsense', ''])
    refused(await service.post(seal(run, nonce)), 403, 'invalid-nonce');

  const wrong = { ...seal(run, fresh()), digest: '0'.repeat(64) };
  assert.equal(refused(await service.post(wrong), 400, 'digest-mismatch').computed, digestOf(run));
  const { digest, ...without } = seal(run, fresh());
  refused(await service.post(without), 400, 'digest-mismatch');

  const shapeless = structuredClone(run);
  shapeless.cells[0].iterations[0].startT = 'soon';
  shapeless.suite = 'huge';
  const nonce = fresh();
  const shape = refused(await service.post(seal(shapeless, nonce)), 400, 'invalid-shape');
  const paths = shape.errors.map((error) => error.path);
  assert.ok(paths.includes('/suite') && paths.includes('/cells/0/iterations/0/startT'), paths);
  for (const createdAt of ['2025-12-31T23:59:59.999Z',
    new Date(Date.now() + 49 * 3600 * 1000).toISOString()]) {
    const odd = refused(await service.post(seal({ ...run, createdAt }, nonce)), 400, 'invalid-shape');
    assert.deepEqual(odd.errors.map((error) => error.path), ['/createdAt']);
  }
  refused(await service.post(seal({ ...run, protocol: 'localmode-bench/4' }, nonce)), 400,
    'invalid-shape');

  /* None of these burnt the nonce. */
  assert.equal((await service.post(seal(run, nonce))).status, 200);
  /* A nonce of the previous secret, and one of the longest age, still do. */
  const later = makeRun({ id: 'rotated-run-01', seed: 4 });
  assert.equal((await service.post(seal(later, makeNonce('the one before')))).status, 200);
  const old = makeRun({ id: 'old-nonce-run-1', seed: 5 });
  assert.equal((await service.post(seal(old, makeNonce(secret, Date.now() - day + 5000)))).status, 200);
  const legacy = seal(makeRun({ id: 'legacy-run-001', seed: 6 }), fresh(), { legacy: true });
  assert.equal((await service.post(legacy)).status, 200);
  assert.match(await service.nonce(), /^n1\.[0-9a-f]{8}\.\d{13}\.[0-9a-f]{32}\.[0-9a-f]{64}$/);
  assert.ok(!service.log.includes(secret));
});

test('an index entry above 256 KiB is a shape error of the whole run', async (t) => {
  const service = await startService(t);
  const run = makeRun({ id: 'giant-entry-01', cells: ['embed-single'], iterations: 1 });
  const [cell] = run.cells;
  run.cells = Array.from({ length: 500 }, (_, i) => ({
    ...structuredClone(cell), cellId: `cell-${i}-${'c'.repeat(180)}`, runtimeId: 'r'.repeat(190),
  }));
  run.clientSummaries = [];
  const answer = refused(await service.submit(run), 400, 'invalid-shape');
  assert.deepEqual(answer.errors.map((error) => error.path), ['']);
});

test('validate is the same line without nonce and store', async (t) => {
  const service = await startService(t);
  const run = makeRun({ id: 'validated-run-1' });
  run.environment.languages = ['fr'];
  const place = '/api/bench/validate';
  const answer = await service.post(seal(run), { place });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const body = answer.body;
  assert.equal(body.ok, true);
  assert.equal(body.flagged, false);
  assert.deepEqual(body.flags, []);
  assert.equal(body.summaries.length, run.cells.length);
  assert.equal(body.rulesVersion, RULES_VERSION);
  assert.equal(body.path, 'runs/2026/01/validated-run-1.json');
  assert.ok(body.removed.includes('environment.languages'));
  assert.equal(body.entry.runId, run.runId);
  assert.match(body.digest, /^[0-9a-f]{64}$/);
  refused(await service.post('{', { place }), 400, 'invalid-json');
  refused(await service.post('[1]', { place }), 400, 'invalid-shape');
  refused(await service.post({ ...seal(run), digest: 'x' }, { place }), 400, 'digest-mismatch');
  refused(await service.post(seal({ ...run, suite: 'x' }), { place }), 400, 'invalid-shape');
  assert.equal((await service.json('/api/bench/leaderboard')).body.entries, 0);
  refused(await service.json(`/api/bench/runs/${run.runId}`), 404, 'unknown-run');
  assert.equal((await service.submit(run)).status, 200);
});

test('global budgets answer busy and are given back by what fails', async (t) => {
  const service = await startService(t, {
    config: { accepted_per_hour: 1, quarantined_per_hour: 1 },
  });
  const first = makeRun({ id: 'budget-run-001', seed: 1 });
  assert.equal((await service.submit(first)).status, 200);
  const second = seal(makeRun({ id: 'budget-run-002', seed: 2 }), await service.nonce());
  const answer = await service.post(second);
  const body = refused(answer, 429, 'busy');
  assert.ok(body.retryAfterSec > 0);
  assert.equal(answer.headers.get('retry-after'), String(body.retryAfterSec));
  refused(await service.submit(first), 409, 'duplicate-run'); /* known runs are told first */
  const flagged = makeRun({ id: 'budget-run-003', seed: 3 });
  flagged.fingerprint = null;
  assert.equal((await service.submit(flagged)).status, 200);
  refused(await service.submit({ ...flagged, runId: 'budget-run-004' }), 429, 'busy');
  await service.restart({ config: {} });
  assert.equal((await service.post(second)).status, 200); /* neither nonce nor id was burnt */
  await service.restart({ config: { bytes_per_day: 1000 } });
  refused(await service.submit(makeRun({ id: 'budget-run-005', seed: 5 })), 429, 'busy');
});

test('without a store submissions are closed and the rest is served', async (t) => {
  const service = await startService(t, { store: '' });
  const closed = refused(await service.post(seal(makeRun(), 'n')), 503, 'bench-store-unbound');
  assert.match(closed.message, /export the run as json/i);
  refused(await service.json('/api/bench/nonce'), 503, 'bench-store-unbound');
  assert.equal((await service.json('/api/bench/leaderboard')).body.entries, 0);
  assert.equal((await service.post(seal(makeRun()), { place: '/api/bench/validate' })).status, 200);
  refused(await service.json('/index/summary.json'), 404, 'not-found');
  assert.equal((await service.json('/healthz')).status, 200);
  const ready = await service.json('/readyz');
  assert.equal(ready.status, 503);
  assert.equal(ready.body.ok, false);
  assert.equal(ready.body.reasons.length, 1);
});
