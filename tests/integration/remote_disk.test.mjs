// The disk under the state directory is full, read-only, or its quota is used up: 503, the nonce is given back,
// nothing breaks, and all is well when there is room again.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { startRemote } from '../support/remote.mjs';
import { assertAll, assertInStep, checkDataset, postAll, sealedRuns, smallRun, startRemoteService, until } from '../support/remote_service.mjs';

const ids = (runs) => runs.map(({ runId }) => runId);
const mount = (...args) => execFileSync('mount', args, { stdio: ['ignore', 'pipe', 'pipe'] });

/** Why nothing can be mounted here, false when it can. */
function noMount() {
  const tried = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { encoding: 'utf8' });
  return tried.status === 0 ? false : `mounting is not permitted: ${tried.stderr || tried.error}`;
}
const skip = noMount();

/** A service whose state directory is a file system of its own of 24 MB. */
function startOnSmallDisk(t, remote) {
  return startRemoteService(t, remote, { prepare(folder, service) {
    mkdirSync(service.state);
    mount('-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', service.state);
    service.release = () => {
      while (spawnSync('umount', ['--lazy', service.state]).status === 0); // and what lies over it
    };
  } });
}

function refused({ run, status, body, headers }) {
  assert.equal(status, 503, `${run.runId}: ${JSON.stringify(body)}`);
  assert.equal(body.code, 'store-unavailable');
  assert.ok(Number(headers.get('retry-after')) > 0);
}

/** Fills the disk but for LEFT bytes. */
function fill(service, left) {
  const { bavail, bsize } = statfsSync(service.state);
  writeFileSync(path.join(service.state, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - left), 1));
}

const empty = (service) => rmSync(path.join(service.state, 'ballast'));

test('a full disk', { skip, timeout: 180_000 }, async (t) => {
  const remote = await startRemote(t);
  const service = await startOnSmallDisk(t, remote);
  await service.ready();
  const first = await sealedRuns(service, 'room', 3);
  assertAll(await postAll(service, first), 200);
  const runs = [];
  for (const left of [0, 4096, 16384, 65536, 200_000]) {
    const some = await sealedRuns(service, `left-${left}`, 6);
    runs.push(...some);
    fill(service, left);
    const results = await postAll(service, some, { clients: 3 });
    t.diagnostic(`${left} bytes left: ${results.map(({ status }) => status).join(' ')}`);
    if (left === 0) results.forEach(refused);
    for (const result of results) if (![200, 202].includes(result.status)) refused(result);
    if (left === 0) t.diagnostic((await service.unready('disk-full:')).join(' / '));
    for (const place of ['/healthz', '/api/bench/leaderboard']) assert.equal((await service.fetch(place)).status, 200);
    empty(service);
    await until(async () => {
      const { status, body } = await service.post(some[0]);
      return status === 200 || (status === 409 && body.same === true);
    }, { what: 'the run is taken with the nonce it had', why: () => service.recently() });
  }
  for (const { status, body } of await postAll(service, runs))
    assert.ok([200, 202].includes(status) || body.same === true, JSON.stringify(body));
  await service.settled(runs);
  await service.ready();
  await checkDataset(remote, ids([...first, ...runs]));
  service.mirror('fsck', '--full', '--strict', '--no-dangling');
  assertInStep(service);
  await service.restart();
  await service.ready();
  await service.checkSecrets();
});

test('a full disk when the service starts', { skip, timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t);
  const service = await startOnSmallDisk(t, remote);
  await service.ready();
  const runs = await sealedRuns(service, 'early', 4);
  assertAll(await postAll(service, runs.slice(0, 2)), 200);
  await service.stop();
  fill(service, 0);
  await service.begin();
  (await postAll(service, runs.slice(2))).forEach(refused);
  empty(service);
  await service.ready();
  assertAll(await postAll(service, runs.slice(2)), 200);
  await checkDataset(remote, ids(runs));
  await service.checkSecrets();
});

test('a read-only state directory', { skip, timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t);
  const service = await startOnSmallDisk(t, remote);
  await service.ready();
  const runs = await sealedRuns(service, 'read-only', 6);
  assertAll(await postAll(service, runs.slice(0, 2)), 200);
  // A file system that a process writes to cannot be remounted, the same one mounted over itself can.
  mount('--bind', service.state, service.state);
  mount('-o', 'remount,bind,ro', service.state);
  (await postAll(service, runs.slice(2))).forEach(refused);
  t.diagnostic((await service.unready('')).join(' / '));
  assert.equal((await service.fetch('/api/bench/leaderboard')).status, 200);
  mount('-o', 'remount,bind,rw', service.state);
  await service.ready();
  assertAll(await postAll(service, runs.slice(2)), 200);
  await checkDataset(remote, ids(runs));
  service.mirror('fsck', '--full', '--strict', '--no-dangling');
  await service.checkSecrets();
});

test('a quota that is used up', { timeout: 180_000 }, async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote,
    // Long enough for a commit on a busy machine: one that takes longer is answered with 503 and lands all the same.
    { config: { disk_quota: 8_000_000, submit_wait_ms: 2000 } });
  await service.ready();
  await remote.down();
  const runs = await sealedRuns(service, 'quota', 60,
    (id, seed) => ({ ...smallRun(id, seed), padding: randomBytes(300_000).toString('base64') }));
  const results = await postAll(service, runs, { clients: 4 });
  const queued = results.filter(({ status }) => status === 202).map(({ run }) => run);
  t.diagnostic(`${queued.length} of ${runs.length} were taken`);
  assert.ok(queued.length > 3 && queued.length < runs.length, 'first there is room, then there is none');
  for (const result of results) if (result.status !== 202) refused(result);
  t.diagnostic((await service.unready('disk-quota:')).join(' / '));
  await remote.up();
  await service.settled(queued);
  await checkDataset(remote, ids(queued));
  await service.checkSecrets();
});
