// Many submissions share a push: how many pushes, what they send, how long a client waits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startFileRemote, startRemote } from '../support/remote.mjs';
import { assertAll, assertClientOrder, assertInStep, checkDataset, describePushes, describeTimes, FULL, largeRun,
  postAll, quantile, sealedRuns, startRemoteService } from '../support/remote_service.mjs';

const RUNS = FULL ? 500 : 120;
const CLIENTS = 50;
const MOST_PUSHES = RUNS * 60 / 500;

test(`${RUNS} submissions of 70 KB from ${CLIENTS} clients, 300 ms from the remote`, { timeout: 300_000 }, async (t) => {
  const remote = await startRemote(t, { latencyMs: 300 });
  const service = await startRemoteService(t, remote);
  await service.ready();
  const runs = await sealedRuns(service, 'throughput', RUNS, largeRun);
  t.diagnostic(`a run is ${JSON.stringify(runs[0]).length} bytes`);
  const before = remote.pushes().length;
  const started = performance.now();
  const results = await postAll(service, runs, { clients: CLIENTS });
  const seconds = (performance.now() - started) / 1000;
  const pushes = remote.pushes().slice(before);
  t.diagnostic(describeTimes(results));
  t.diagnostic(describePushes(pushes));
  t.diagnostic(`${(RUNS / seconds).toFixed(1)} submissions a second`);
  t.diagnostic(`bytes per push: ${pushes.map(({ bytes }) => bytes).join(' ')}`);
  assertAll(results, 200);
  assert.ok(pushes.length < MOST_PUSHES, `${pushes.length} pushes, below ${MOST_PUSHES}`);
  if (FULL) assert.ok(quantile(results.map(({ ms }) => ms), 0.5) < 2500, describeTimes(results));
  const events = await checkDataset(remote, runs.map(({ runId }) => runId));
  assertClientOrder(results, events);
  assertInStep(service);
  for (const { body } of results) assert.match(remote.git('cat-file', '-t', body.commit), /^commit/);
  const { body: board } = await service.json('/api/bench/leaderboard');
  assert.equal(board.runs, RUNS, 'the board shows what the remote has');
  await service.checkSecrets();
});

test('an idle store pushes at once, and a full budget delays without refusing', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote, { config: { pushes_per_minute: 5, submit_wait_ms: 2000 } });
  await service.ready();
  const before = remote.pushes().length;
  const runs = await sealedRuns(service, 'budget', 12);
  assert.equal((await service.post(runs[0])).status, 200);
  const results = await postAll(service, runs.slice(1), { clients: 1 });
  for (const { status } of results) assert.ok(status === 200 || status === 202, `${status}`);
  assert.ok(results.some(({ status }) => status === 202), 'the budget is spent');
  assert.ok(remote.pushes().length - before <= 5);
  const late = results.filter(({ status }) => status === 202).map(({ run }) => run);
  if (FULL) { // a minute later
    await service.settled(late, 'published', 90_000);
    await checkDataset(remote, runs.map(({ runId }) => runId));
  } else {
    for (const run of late) assert.match((await service.fate(run)).status, /^(queued|published)$/);
  }
  await service.checkSecrets();
});

test('a remote that is a folder', async (t) => {
  const remote = startFileRemote(t);
  const service = await startRemoteService(t, remote);
  await service.ready();
  const runs = await sealedRuns(service, 'folder', 60);
  const results = await postAll(service, runs, { clients: 20 });
  t.diagnostic(describeTimes(results));
  assertAll(results, 200);
  assertClientOrder(results, await checkDataset(remote, runs.map(({ runId }) => runId)));
  assertInStep(service);
  await service.checkSecrets();
});
