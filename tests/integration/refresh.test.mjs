// The daily task, every second: index/summary.json past its limit and index/leaderboard.json are brought up to date by a
// commit of their own, beside submissions, locally and at a remote.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRemote } from '../support/remote.mjs';
import { checkDataset, land, postAll, sealedRuns, smallRun, startRemoteService, until } from '../support/remote_service.mjs';
import { command, sleep, startService } from '../support/service.mjs';

const SUBJECT = 'bench: refresh the summary';
const CONFIG = { summary_limit: 2000, refresh_every_s: 1 }; // a run or two fit
const json = (dataset, name) => JSON.parse(dataset.file(name));
const tipOf = (dataset) => (dataset.tip ? dataset.tip() : dataset.git('rev-parse', 'HEAD').trim());
const refreshes = (dataset) => dataset.git('log', '--format=%s', tipOf(dataset)).trim().split('\n').filter((subject) => subject === SUBJECT).length;

/** Whether summary and leaderboard are those of all COUNT entries. */
function isFresh(dataset, count) {
  if (!dataset.files().includes('index/leaderboard.json')) return false;
  const { entries, summaryComplete, summaryEntries } = json(dataset, 'index/manifest.json');
  return entries === count && summaryComplete && summaryEntries === count && json(dataset, 'index/leaderboard.json').entries === count;
}

async function assertRebuilds(dataset, repository, count) {
  assert.equal(json(dataset, 'index/summary.json').length, count);
  const rows = await command(['rows', repository]);
  assert.equal(JSON.stringify(json(dataset, 'index/leaderboard.json').rows), rows.stdout);
  const rebuilt = await command(['index', '--dry-run', repository]);
  assert.match(rebuilt.stdout, /, unchanged\n$/, `a full rebuild makes the same bytes: ${rebuilt.stdout}${rebuilt.stderr}`);
}

async function submitAll(service, name, count) {
  for (const { status, body } of await postAll(service, await sealedRuns(service, name, count), { clients: 4 }))
    assert.equal(status, 200, JSON.stringify(body));
}

test('a local dataset is refreshed beside submissions, and only when something has changed', async (t) => {
  const service = await startService(t, { config: CONFIG });
  for (let round = 1; round <= 4; round++) {
    await submitAll(service, `round-${round}`, 10);
    await sleep(300);
  }
  await until(() => isFresh(service, 40), { what: 'a refresh of all', why: () => service.log });
  await assertRebuilds(service, service.store, 40);
  const tip = tipOf(service), { rows } = (await service.json('/api/bench/leaderboard')).body;
  await until(async () => JSON.stringify((await service.json('/index/leaderboard.json')).body.rows) === JSON.stringify(rows),
    { what: 'the service serves what it has committed' });
  await sleep(2500);
  assert.equal(tipOf(service), tip, 'there is nothing to refresh');
  const before = refreshes(service);
  await service.restart();
  await submitAll(service, 'after', 1);
  assert.equal(json(service, 'index/manifest.json').summaryComplete, false);
  await until(() => isFresh(service, 41), { what: 'a refresh after a start', why: () => service.log });
  assert.ok(refreshes(service) > before);
  await assertRebuilds(service, service.store, 41);
});

test('it can be turned off, and leaves a summary alone that would be too large', async (t) => {
  const off = await startService(t, { config: { ...CONFIG, refresh_every_s: 0 } });
  const small = await startService(t, { config: { ...CONFIG, summary_most: 3000 } });
  for (const service of [off, small]) await submitAll(service, 'some', 6);
  await until(() => small.files().includes('index/leaderboard.json'), { what: 'a leaderboard' });
  assert.equal(json(small, 'index/manifest.json').summaryComplete, false);
  await sleep(1500);
  assert.equal(refreshes(off), 0);
  assert.equal(small.git('fsck', '--full', '--strict').trim(), '');
});

test('a remote is refreshed beside the submissions of two instances, and rests when there is nothing new', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t, { latencyMs: 50 });
  const services = [await startRemoteService(t, remote, { config: CONFIG }), await startRemoteService(t, remote, { config: CONFIG })];
  for (const service of services) await service.ready();
  const ids = [];
  for (let round = 1; round <= 4; round++) {
    const service = services[round % 2], runs = await sealedRuns(service, `round-${round}`, 10, smallRun);
    ids.push(...runs.map(({ runId }) => runId));
    await land(service, runs, { clients: 4 });
  }
  await until(() => isFresh(remote, 40), { what: 'a refresh of all', ms: 60_000, why: () => services.map(({ log }) => log).join('\n') });
  await checkDataset(remote, ids);
  await assertRebuilds(remote, remote.repo, 40);
  const tip = remote.tip();
  await sleep(3000);
  assert.equal(remote.tip(), tip, `there is nothing to refresh: ${remote.git('log', '--stat', '-p', '--format=%s', `${tip}..${remote.tip()}`).slice(0, 3000)}`);
});

test('a remote that declines the refresh takes runs all the same', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t);
  remote.hook('pre-receive', `while read old new ref; do git log --format=%s -1 "$new" | grep -q '${SUBJECT}' && exit 1; done; exit 0\n`);
  const service = await startRemoteService(t, remote, { config: CONFIG });
  await service.ready();
  const ids = [];
  for (let round = 1; round <= 3; round++) {
    const runs = await sealedRuns(service, `round-${round}`, 5, smallRun);
    ids.push(...runs.map(({ runId }) => runId));
    await land(service, runs);
    if (round === 1) await until(() => /refresh of the summary was not taken/.test(service.log), { what: 'a refresh that is declined', why: () => service.log });
  }
  assert.equal((await service.json('/readyz')).status, 200);
  assert.equal(refreshes(remote), 0);
  await checkDataset(remote, ids);
});
