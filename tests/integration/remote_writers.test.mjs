// Others write to the same remote: a person who pushes files, another instance, the same run sent to both.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { startRedis } from '../support/redis.mjs';
import { startRemote } from '../support/remote.mjs';
import { assertAll, assertClientOrder, checkDataset, describePushes, describeTimes, FULL, postAll, sealedRuns,
  smallRun, startRemoteService, until } from '../support/remote_service.mjs';
import { seal } from '../support/run.mjs';
import { sleep } from '../support/service.mjs';

const ids = (runs) => runs.map(({ runId }) => runId);

/** Pushes a note every second until `end` is called, which gives their names. It sits beside the repository: from
 *  further away it would lose most races against a service that pushes all the time. */
async function startWriter(remote) {
  const { tree, git } = await remote.clone('maintainer');
  await git('remote', 'set-url', 'origin', remote.repo);
  mkdirSync(path.join(tree, 'notes'));
  const notes = [];
  let running = true;
  async function write() {
    const name = `notes/${notes.length}.md`;
    writeFileSync(path.join(tree, name), `note ${notes.length}\n`);
    await git('add', name);
    await git('commit', '--quiet', '-m', `note ${notes.length}`);
    for (;;) {
      await git('pull', '--quiet', '--rebase');
      if (await git('push', '--quiet', 'origin', `HEAD:${remote.branch}`).then(() => true, () => false)) break;
    }
    notes.push(name);
  }
  const work = (async () => {
    while (running) {
      const next = Date.now() + 1000;
      await write();
      while (running && Date.now() < next) await sleep(50);
    }
  })();
  return { notes, async end() { running = false; await work; return notes; } };
}

const CONTENDED = FULL ? 200 : 80;

test(`somebody else pushes every second during ${CONTENDED} submissions`, { timeout: 300_000 }, async (t) => {
  const remote = await startRemote(t, { latencyMs: 50 });
  const service = await startRemoteService(t, remote);
  await service.ready();
  const runs = await sealedRuns(service, 'contended', CONTENDED);
  const writer = await startWriter(remote);
  const results = await postAll(service, runs, { clients: 20 });
  await service.settled(runs, 'published', 60_000);
  const notes = await writer.end();
  t.diagnostic(`${notes.length} pushes of the other; ${describeTimes(results)}; ${describePushes(remote.pushes())}`);
  assert.ok(notes.length >= 3, 'the other took part');
  for (const { status, body } of results) assert.ok(status === 200 || status === 202, JSON.stringify(body));
  if (FULL) assert.ok(results.filter(({ status }) => status === 200).length >= 0.95 * CONTENDED, 'hardly anybody was put off');
  assertClientOrder(results, await checkDataset(remote, ids(runs)));
  const files = new Set(remote.files());
  for (const note of notes) assert.ok(files.has(note), `${note} is kept`);
  assert.ok(files.has('README.md'));
  await service.checkSecrets();
});

test('a commit of somebody else is seen while nothing is pushed', async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote);
  await service.ready();
  assertAll(await postAll(service, await sealedRuns(service, 'before', 3)), 200);
  const commit = remote.commit('notes/one.md', 'one\n');
  await until(() => service.mirror('rev-parse', 'refs/benchledger/remote').trim() === commit, { what: 'it is seen' });
  assertAll(await postAll(service, await sealedRuns(service, 'after', 3)), 200);
  assert.ok(remote.files().includes('notes/one.md'));
  await checkDataset(remote);
  await service.checkSecrets();
});

/** Two services on one remote that share redis and the nonce secret. */
async function startTwo(t, { redis, latencyMs = 50, config = {} }) {
  const remote = await startRemote(t, { latencyMs });
  const secret = 'shared by the two instances, which know each other by the remote';
  const env = redis ? { BENCHLEDGER_REDIS_PASSWORD: redis.password } : {};
  const options = { secret, env, config: { ...(redis ? { redis_url: redis.url } : {}), ...config } };
  const first = await startRemoteService(t, remote, options);
  await first.ready();
  const second = await startRemoteService(t, remote, options);
  await second.ready();
  if (redis) for (const service of [first, second]) service.watch.add('redis password', redis.password);
  return { remote, first, second };
}

test('two instances with redis under load', { timeout: 300_000 }, async (t) => {
  const redis = await startRedis(t);
  const { remote, first, second } = await startTwo(t, { redis });
  const count = FULL ? 200 : 60;
  const [left, right, contested] = [await sealedRuns(first, 'left', count), await sealedRuns(second, 'right', count),
    await sealedRuns(first, 'contested', 10)];
  const [inLeft, inRight, ...twice] = await Promise.all([postAll(first, left, { clients: 10 }),
    postAll(second, right, { clients: 10 }), postAll(first, contested, { clients: 5 }),
    postAll(second, contested, { clients: 5 })]);
  t.diagnostic(`${describeTimes([...inLeft, ...inRight])}; ${describePushes(remote.pushes())}`);
  for (const { status, body } of [...inLeft, ...inRight]) assert.ok(status === 200 || status === 202, JSON.stringify(body));
  for (const [i, run] of contested.entries()) {
    const answers = twice.map((results) => results[i]);
    assert.ok(answers.some(({ status }) => status === 200 || status === 202), `${run.runId} is taken by one`);
    for (const { status, body } of answers)
      assert.ok(status === 200 || status === 202 || status === 409, JSON.stringify(body));
  }
  for (const service of [first, second]) await service.settled([...left, ...right, ...contested]);
  const events = await checkDataset(remote, ids([...left, ...right, ...contested]));
  assertClientOrder(inLeft, events);
  assertClientOrder(inRight, events);
  const boards = await Promise.all([first, second].map((service) => service.json('/api/bench/leaderboard')));
  for (const { body } of boards) assert.equal(body.runs, 2 * count + 10, 'both show the union');
  await first.checkSecrets();
  await second.checkSecrets();
});

test('one id with two contents at two instances: one lands, the other ends as conflict or is refused',
  { timeout: 300_000 }, async (t) => {
    const redis = await startRedis(t);
    const { remote, first, second } = await startTwo(t, { redis, latencyMs: 200 });
    const pairs = [];
    for (let i = 0; i < 8; i++) {
      const id = `two-contents-${i}`;
      pairs.push([seal(smallRun(id, i), await first.nonce()), seal(smallRun(id, i + 100), await second.nonce())]);
    }
    const answers = await Promise.all(pairs.flatMap(([mine, yours]) => [first.post(mine), second.post(yours)]));
    await until(async () => {
      const fates = await Promise.all(pairs.flatMap(([mine, yours]) => [first.fate(mine), second.fate(yours)]));
      return fates.every(({ status }) => status !== 'queued');
    }, { what: 'nothing waits any more' });
    const events = await checkDataset(remote, pairs.map(([{ runId }]) => runId));
    for (const [i, pair] of pairs.entries()) {
      const landed = events.find(({ runId }) => runId === pair[0].runId).submittedDigest;
      for (const [j, run] of pair.entries()) {
        const { status, body } = answers[2 * i + j];
        const service = j === 0 ? first : second;
        if (run.digest === landed) {
          assert.ok(status === 200 || status === 202, JSON.stringify(body));
        } else if (status === 202) {
          assert.equal((await service.fate(run)).status, 'conflict');
          assert.ok(service.mirror('rev-parse', `refs/parked/conflict/${run.digest}`), 'it is kept for the maintainer');
        } else {
          assert.equal(status, 409, JSON.stringify(body));
        }
      }
    }
    const lost = answers.filter(({ status }) => status === 409).length;
    t.diagnostic(`${lost} refused while they waited, ${pairs.length - lost} ended as conflict`);
    await first.checkSecrets();
    await second.checkSecrets();
  });

test('without redis a second instance is noticed and reported', async (t) => {
  const { remote, first, second } = await startTwo(t, {});
  assertAll(await postAll(second, await sealedRuns(second, 'foreign', 3)), 200);
  const warnings = await until(async () => {
    const { body } = await first.json('/readyz');
    return body.warnings?.length > 0 && body.warnings;
  }, { what: 'a warning' });
  t.diagnostic(warnings.join(' / '));
  assertAll(await postAll(first, await sealedRuns(first, 'own', 3)), 200);
  await checkDataset(remote);
  await first.checkSecrets();
});

test('a run that somebody else committed meanwhile is the same run, or a conflict', { timeout: 120_000 }, async (t) => {
  const { remote, first, second } = await startTwo(t, { config: { submit_wait_ms: 3000, remote_timeout_ms: 3000 } });
  const same = seal(smallRun('met-again-same', 1), await first.nonce());
  const mine = seal(smallRun('met-again-other', 2), await first.nonce());
  const yours = seal(smallRun('met-again-other', 3), await second.nonce());
  await remote.down();
  assertAll(await postAll(first, [same, mine]), 202);
  await first.stop(); // its queue stays, the other goes on
  await remote.up();
  await second.ready();
  await postAll(second, [same, yours]);
  await second.settled([same, yours]);
  await first.begin();
  await until(async () => (await first.fate(mine)).status === 'conflict', { what: 'the other content is a conflict' });
  assert.equal((await first.fate(same)).status, 'published');
  await checkDataset(remote, ['met-again-same', 'met-again-other']);
  await first.checkSecrets();
});
