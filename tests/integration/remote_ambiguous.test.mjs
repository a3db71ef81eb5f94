// The answer to a push is lost, late or endless: no run is committed twice, nobody waits for ever.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRemote } from '../support/remote.mjs';
import { assertAll, assertInStep, checkDataset, postAll, sealedRuns, startRemoteService, until } from '../support/remote_service.mjs';
import { sleep } from '../support/service.mjs';

const ids = (runs) => runs.map(({ runId }) => runId);

const LOST = {
  'the connection is reset': (remote) => remote.dropAfterApplied(),
  'the host dies in the middle of its answer': (remote) => remote.cutAfterApplied(),
};

for (const [what, lose] of Object.entries(LOST))
  for (const count of [1, 20])
    test(`${what} after the push was applied: ${count} answered with 200, committed once`, { timeout: 120_000 }, async (t) => {
      const remote = await startRemote(t);
      const service = await startRemoteService(t, remote);
      await service.ready();
      const before = await sealedRuns(service, 'before', 2);
      assertAll(await postAll(service, before), 200);
      const runs = await sealedRuns(service, 'ambiguous', count);
      const tip = remote.tip();
      lose(remote);
      const results = await postAll(service, runs, { clients: 20 });
      assert.equal(remote.armed, false, 'it has happened');
      assertAll(results, 200);
      await checkDataset(remote, ids([...before, ...runs]));
      if (count === 1) assert.equal(remote.git('rev-list', '--count', `${tip}..${remote.branch}`).trim(), '1');
      for (const { body } of results) assert.match(remote.git('cat-file', '-t', body.commit), /^commit/);
      const after = await sealedRuns(service, 'after', 2);
      assertAll(await postAll(service, after), 200);
      assertInStep(service);
      await checkDataset(remote, ids([...before, ...runs, ...after]));
      await service.checkSecrets();
    });

test('a push is applied, then the remote is away: nobody is told that it failed, nothing is doubled', { timeout: 120_000 },
  async (t) => {
    const remote = await startRemote(t);
    const service = await startRemoteService(t, remote);
    await service.ready();
    const runs = await sealedRuns(service, 'applied', 20);
    remote.dropAfterApplied({ then: 'down' });
    const posts = postAll(service, runs, { clients: 20 });
    await until(() => !remote.armed, { what: 'the push is applied' });
    const tip = remote.tip();
    await sleep(1000);
    await remote.up();
    for (const { status, body } of await posts)
      assert.ok(status === 200 || status === 202, JSON.stringify(body)); // 202: nobody could know
    await service.settled(runs);
    const events = await checkDataset(remote, ids(runs));
    assert.equal(events.length, 20);
    remote.git('merge-base', '--is-ancestor', tip, remote.branch); // throws when it is not
    await service.checkSecrets();
  });

for (const mode of ['silent', 'drip'])
  test(`a ${mode} remote holds up nobody for longer than he waits`, { timeout: 120_000 }, async (t) => {
    const remote = await startRemote(t);
    const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 2500, remote_timeout_ms: 3000 } });
    await service.ready();
    const runs = await sealedRuns(service, mode, 20);
    remote.proxy.set(mode);
    const results = await postAll(service, runs, { clients: 20 });
    assertAll(results, 202);
    for (const place of ['/healthz', '/api/bench/leaderboard', '/api/bench/nonce'])
      assert.equal((await service.fetch(place)).status, 200, place);
    t.diagnostic((await service.unready('remote-down:')).join(' / '));
    remote.proxy.set('pass');
    await service.settled(runs);
    await service.ready();
    await checkDataset(remote, ids(runs));
    await service.checkSecrets();
  });

test('a stop in a push that never ends leaves no process behind', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 2500, stop_wait_ms: 2000 } });
  await service.ready();
  remote.proxy.set('silent');
  const runs = await sealedRuns(service, 'endless', 5);
  assertAll(await postAll(service, runs), 202);
  await until(() => service.leftovers().some((line) => /git\0/.test(line)), { what: 'git is at work' });
  assert.deepEqual(await service.stop(), { code: 0, signal: null }); // though a push may take a minute
  assert.deepEqual(service.leftovers(), []);
  remote.proxy.set('pass');
  await service.begin();
  await service.settled(runs);
  await checkDataset(remote, ids(runs));
  await service.checkSecrets();
});

test('a remote that is silent when the service starts', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t);
  remote.proxy.set('silent');
  const service = await startRemoteService(t, remote, { config: { remote_timeout_ms: 1000 } });
  await service.unready('not-cloned:');
  const [run] = await sealedRuns(service, 'too-early', 1);
  const early = await service.post(run);
  assert.equal(early.status, 503);
  assert.equal(early.body.code, 'store-unavailable');
  remote.proxy.set('pass');
  await service.ready();
  assertAll(await postAll(service, [run]), 200); // its nonce was given back
  await checkDataset(remote, ids([run]));
  await service.checkSecrets();
});

test('the host answers 503 for a while', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 2500 } });
  await service.ready();
  remote.unavailable();
  const runs = await sealedRuns(service, 'unavailable', 5);
  assertAll(await postAll(service, runs), 202);
  await service.unready('remote-down:');
  remote.unavailable(false);
  await service.settled(runs);
  await checkDataset(remote, ids(runs));
  await service.checkSecrets();
});
