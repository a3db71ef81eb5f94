// What a maintainer gets wrong, or changes behind the service's back: each is told in words that say what to do.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { makeArchive } from '../support/archive.mjs';
import { makeAuthority } from '../support/certificates.mjs';
import { startFileRemote, startRemote } from '../support/remote.mjs';
import { assertAll, assertInStep, checkDataset, land, postAll, refusal, sealedRuns, startRemoteService,
  until } from '../support/remote_service.mjs';

const ids = (runs) => runs.map(({ runId }) => runId);
const told = (t, reasons, pattern) => {
  t.diagnostic(reasons.join(' / '));
  assert.match(reasons.join('\n'), pattern);
};

async function refusesRuns(service, code = 'store-unavailable') {
  const [run] = await sealedRuns(service, 'refused', 1);
  const { status, body } = await service.post(run);
  assert.equal(status, 503, JSON.stringify(body));
  assert.equal(body.code, code);
}

test('a certificate of another CA', async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote,
    { config: { git_ca_file: makeAuthority(remote.folder, 'other') } });
  told(t, await service.unready('remote-down:'), /certificate|git_ca_file/i);
  assert.match(service.log, /certificate|git_ca_file/i);
  await refusesRuns(service);
  await service.checkSecrets();
});

test('a token that is not let in, then is', async (t) => {
  const remote = await startRemote(t);
  remote.revoke();
  const service = await startRemoteService(t, remote, { config: { remote_poll_ms: 500 } });
  told(t, await service.unready('remote-auth:'), /token/i);
  assert.match(service.log, /token/i);
  await refusesRuns(service);
  remote.grant();
  await service.ready();
  const runs = await sealedRuns(service, 'let-in', 2);
  assertAll(await postAll(service, runs), 200);
  await checkDataset(remote, ids(runs));
  await service.checkSecrets();
});

for (const [what, close, open] of [
  ['a token that ends', (remote) => remote.revoke(), (remote) => remote.grant()],
  ['a token without permission to push', (remote) => remote.denyPush(), (remote) => remote.denyPush(false)],
])
  test(`${what}: runs queue, readiness is red, and all land afterwards`, { timeout: 120_000 }, async (t) => {
    const remote = await startRemote(t);
    const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 2500 } });
    await service.ready();
    const first = await sealedRuns(service, 'first', 2);
    await land(service, first);
    close(remote);
    const runs = await sealedRuns(service, 'queued', 5);
    assertAll(await postAll(service, runs), 202);
    told(t, await service.unready('remote-auth:'), /token|permission/i);
    open(remote);
    await service.settled(runs);
    await service.ready();
    await checkDataset(remote, ids([...first, ...runs]));
    await service.checkSecrets();
  });

for (const [kind, start] of [['https', startRemote], ['file', startFileRemote]])
  test(`an empty ${kind} repository is begun with the first push`, async (t) => {
    const remote = await start(t, { empty: true });
    const service = await startRemoteService(t, remote);
    await service.ready();
    const runs = await sealedRuns(service, 'first-of-all', 5);
    assertAll(await postAll(service, runs, { clients: 5 }), 200);
    assert.ok(remote.files().includes('README.md'));
    assert.equal(remote.git('symbolic-ref', 'HEAD').trim(), 'refs/heads/main');
    await checkDataset(remote, ids(runs));
    assertInStep(service);
    await service.restart();
    await service.ready();
    assert.equal((await service.fate(runs[0])).status, 'published');
    await service.checkSecrets();
  });

test('two services on one empty repository begin it once', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t, { empty: true, latencyMs: 50 });
  const services = [await startRemoteService(t, remote), await startRemoteService(t, remote)];
  for (const service of services) await service.ready();
  const runs = await Promise.all(services.map((service, i) => sealedRuns(service, `begun-by-${i}`, 5)));
  for (const results of await Promise.all(services.map((service, i) => postAll(service, runs[i]))))
    assertAll(results, 200);
  await checkDataset(remote, ids(runs.flat()));
  assert.equal(remote.git('rev-list', '--max-parents=0', '--count', 'main').trim(), '1', 'one beginning');
});

test('a default branch of another name', async (t) => {
  const remote = await startRemote(t, { branch: 'trunk' });
  const service = await startRemoteService(t, remote);
  await service.ready();
  const runs = await sealedRuns(service, 'trunk', 3);
  assertAll(await postAll(service, runs), 200);
  await checkDataset(remote, ids(runs));
  assert.equal(remote.git('for-each-ref', '--format=%(refname)', 'refs/heads').trim(), 'refs/heads/trunk');
  assertInStep(service);
});

test('a default branch that does not exist', async (t) => {
  const remote = await startRemote(t);
  remote.git('branch', '-m', 'main', 'other');
  remote.git('symbolic-ref', 'HEAD', 'refs/heads/main');
  const service = await startRemoteService(t, remote);
  told(t, await service.unready('remote-branch:'), /branch/);
  await refusesRuns(service);
  assert.equal(remote.tip('main'), null, 'it is not made up');
  remote.git('branch', '-m', 'other', 'main');
  await service.ready();
  await service.checkSecrets();
});

test('a default branch that is renamed while the service runs', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 2500 } });
  await service.ready();
  const first = await sealedRuns(service, 'first', 2);
  await land(service, first);
  remote.git('branch', '-m', 'main', 'trunk');
  remote.git('symbolic-ref', 'HEAD', 'refs/heads/trunk');
  const runs = await sealedRuns(service, 'renamed', 3);
  await postAll(service, runs);
  await service.settled(runs);
  assert.match(service.log, /refs\/heads\/main is gone from the remote.*refs\/heads\/trunk/, 'it is told');
  assert.match(service.log, /goes on as refs\/heads\/trunk: it is followed/);
  assert.equal(remote.tip('main'), null, 'the old name is not pushed again');
  remote.branch = 'trunk';
  await checkDataset(remote, ids([...first, ...runs]));
  await service.restart();
  await service.ready();
  assertInStep(service);
  await service.checkSecrets();
});

test('a default branch in the place of ours that does not go on with it is not followed', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 2500 } });
  await service.ready();
  const [first, second] = await sealedRuns(service, 'other', 2);
  await postAll(service, [first]);
  await service.settled([first]);
  const before = remote.tip();
  remote.git('update-ref', 'refs/heads/other', remote.git('commit-tree', 'main^{tree}', '-m', 'another').trim());
  remote.git('symbolic-ref', 'HEAD', 'refs/heads/other');
  remote.git('update-ref', '-d', 'refs/heads/main');
  told(t, await service.unready('remote-branch:'), /main/);
  assertAll(await postAll(service, [second]), 202);
  assert.equal(remote.tip('main'), null);
  remote.git('update-ref', 'refs/heads/main', before);
  remote.git('symbolic-ref', 'HEAD', 'refs/heads/main');
  await service.settled([second]);
  await checkDataset(remote, ids([first, second]));
});

test('a repository that does not exist', async (t) => {
  const remote = await startRemote(t);
  remote.vanish();
  const service = await startRemoteService(t, remote);
  told(t, await service.unready('remote-down:'), /not found|exist/i);
  await refusesRuns(service);
  remote.reappear();
  await service.ready();
});

test('a history that was rewritten is not overwritten, and is told', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 2500 } });
  await service.ready();
  const [kept, lost] = await sealedRuns(service, 'rewritten', 2);
  await land(service, [kept]);
  const tip = remote.tip();
  await land(service, [lost]);
  remote.git('update-ref', 'refs/heads/main', tip); // forced back by a maintainer
  await until(() => service.mirror('rev-parse', 'refs/benchledger/remote').trim() === tip,
    { ms: 60_000, what: 'it is seen', why: () => service.recently() }); // not a stale read any more
  const runs = await sealedRuns(service, 'afterwards', 2);
  for (const { status, body } of await postAll(service, runs))
    assert.ok([200, 202].includes(status), JSON.stringify(body));
  await service.settled(runs);
  remote.git('merge-base', '--is-ancestor', tip, 'main'); // throws when it is not
  assert.ok(!remote.files().some((name) => name.includes(lost.runId)), 'what was taken out is not pushed back');
  await checkDataset(remote);
});

test('another repository in the place of ours is not filled with our runs', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 2500 } });
  await service.ready();
  const [landed, queued] = await sealedRuns(service, 'replaced', 2);
  await postAll(service, [landed]);
  await service.settled([landed]);
  const before = remote.tip();
  const other = remote.git('commit-tree', 'main^{tree}', '-m', 'another').trim();
  remote.git('update-ref', 'refs/heads/main', other);
  await service.unready('remote-unreadable:');
  remote.git('update-ref', 'refs/heads/main', before);
  await service.ready(); // it is back, and nothing had to be pushed to find out
  remote.git('update-ref', 'refs/heads/main', other);
  await service.unready('remote-unreadable:');
  assertAll(await postAll(service, [queued]), 202);
  assert.equal((await service.json('/api/bench/leaderboard')).body.runs, 1, 'the board shows what the dataset had');
  assert.equal(remote.tip(), other);
  remote.git('update-ref', 'refs/heads/main', before); // it is back
  await service.settled([queued]);
  await checkDataset(remote, [landed.runId, queued.runId]);
});

test('owner/name is looked up at git_host', async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote, { store: remote.slug, config: { git_host: remote.host } });
  await service.ready();
  const runs = await sealedRuns(service, 'by-name', 2);
  assertAll(await postAll(service, runs), 200);
  assert.equal((await service.json('/api/bench/leaderboard')).body.repo, remote.slug);
  await checkDataset(remote, ids(runs));
  await service.checkSecrets();
});

test('without a token: unbound, and the board of an anonymous clone', async (t) => {
  const folder = path.join(startFileRemote(t).folder, 'archive.git');
  await makeArchive(folder, 30);
  const remote = await startRemote(t, { from: folder, anonymousRead: true });
  for (const store of [remote.url, remote.slug]) {
    const service = await startRemoteService(t, remote, { token: null, store, config: { git_host: remote.host } });
    const { body } = await until(async () => {
      const board = await service.json('/api/bench/leaderboard');
      return board.body.entries === 30 && board;
    }, { what: 'the board is filled', why: () => service.recently() });
    assert.ok(body.rows.length > 0);
    assert.equal((await service.fetch('/runs/2026/01/archive-run-000000.json')).status, 200);
    await refusesRuns(service, 'bench-store-unbound');
    await service.stop();
  }
  assert.equal(remote.pushes().length, 0);
});

test('a writable remote without a nonce secret does not start', async (t) => {
  const remote = await startRemote(t);
  for (const store of [remote.url, startFileRemote(t).url]) {
    const { code, stderr } = await refusal(store, [], { BENCH_GITHUB_TOKEN: remote.token });
    assert.equal(code, 2, stderr);
    assert.match(stderr, /BENCH_NONCE_SECRET|nonce_secret/);
    assert.ok(!stderr.includes(remote.token));
  }
});

test('values that cannot be meant are refused at the start', async (t) => {
  const remote = startFileRemote(t);
  for (const wrong of ['token_expires=soon', 'token_expires=2026-13-01', 'redis_url=http://localhost', 'disk_quota=-1',
    'pushes_per_minute=x', 'git_ca_file=/no/such/file', 'receipt_key_file=/no/such/file', 'git_host=ftp://x']) {
    const { code, stderr } = await refusal(remote.url, [`--${wrong}`], { BENCH_NONCE_SECRET: 'enough of a secret for this' });
    assert.equal(code, 2, `${wrong}: ${stderr}`);
    assert.ok(stderr.replaceAll('-', '_').includes(wrong.split('=')[0]), `${wrong}: ${stderr}`);
  }
});

test('a token that expires soon is a warning', async (t) => {
  const remote = await startRemote(t);
  const day = (n) => new Date(Date.now() + n * 86400e3).toISOString().slice(0, 10);
  for (const [days, warned] of [[10, true], [-1, true], [40, false]]) {
    const service = await startRemoteService(t, remote, { config: { token_expires: day(days) } });
    const { body } = await service.ready();
    const warnings = (body.warnings ?? []).filter((text) => /expire/.test(text));
    t.diagnostic(`in ${days} days: ${warnings.join(' / ') || 'nothing'}`);
    assert.equal(warnings.length, warned ? 1 : 0);
    if (warned) assert.match(service.log, /expire/);
    await service.stop();
  }
});
