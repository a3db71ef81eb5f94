// Decisions beside a remote: queued, pushed with submissions, applied again, overtaken.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { gitEnvironment, startRemote } from '../support/remote.mjs';
import { assertInStep, FULL, postAll, sealedRuns, startRemoteService, until } from '../support/remote_service.mjs';
import { checkReviewed, decide, flaggedRun, makeMaintainers, stateOf, withdrawCode } from '../support/review.mjs';

const REVIEWS = FULL ? 50 : 18, RUNS = FULL ? 200 : 60;
const ACTIONS = ['release', 'keep', 'withdraw'];
const flagged = (id, seed) => flaggedRun({ id, seed, cells: ['llm'], chunks: 8 });

async function start(t, { services = 1, config = {}, ...options } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-review-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { file, tokens } = await makeMaintainers(folder, [['ada', 'admin'], ['grace', 'admin']]);
  const remote = await startRemote(t, options);
  const started = [];
  for (let i = 0; i < services; i++) {
    const service = await startRemoteService(t, remote, { secret: 'shared by all instances of this test, long enough',
      config: { maintainers_file: file, submit_wait_ms: 10000, remote_timeout_ms: 5000, review_rate_limit: 0, ...config } });
    await service.ready();
    started.push(service);
  }
  return { remote, tokens, services: started, service: started[0] };
}

const reviewedRemote = (remote) => checkReviewed({ files: () => remote.files(), file: (name) => remote.file(name) });

/** Lands COUNT runs, all of them quarantined, and returns them with their revisions. */
async function landFlagged(service, count) {
  const runs = await sealedRuns(service, 'flagged', count, flagged);
  await postAll(service, runs, { clients: 10 });
  await service.settled(runs, 'quarantined');
  return Promise.all(runs.map(async ({ runId }) => ({ runId, revision: (await stateOf(service, runId)).revision })));
}

test(`${REVIEWS} reviews and ${RUNS} submissions while the remote is away, and a kill: all end, none is lost`,
  { timeout: 300_000 }, async (t) => {
    const { remote, service, tokens } = await start(t);
    const held = await landFlagged(service, REVIEWS);
    const runs = await sealedRuns(service, 'plain', RUNS);
    await remote.down();
    const [answers, results] = await Promise.all([
      Promise.all(held.map(({ runId, revision }, i) =>
        decide(service, tokens.ada, { runId, action: ACTIONS[i % 3], expectedRevision: revision }))),
      postAll(service, runs, { clients: 20 })]);
    for (const { status, body } of [...answers, ...results]) {
      assert.equal(status, 202, JSON.stringify(body));
      assert.equal(body.queued, true);
    }
    const [{ runId, revision }] = held;
    assert.deepEqual([(await stateOf(service, runId)).status, (await stateOf(service, runId)).revision],
      ['quarantined', revision], 'what is shown is what the remote has');
    const twice = await decide(service, tokens.grace, { runId, action: 'keep', expectedRevision: revision });
    assert.deepEqual([twice.status, twice.body.code], [409, 'stale-review'], 'one decision at a time');
    const early = await decide(service, tokens.grace, { runId: runs[0].runId, action: 'withdraw', expectedRevision: 0 });
    assert.deepEqual([early.status, early.body.code], [409, 'wrong-state'], 'a queued run');

    await service.stop('SIGKILL');
    await service.begin();
    await until(async () => (await service.json('/api/bench/leaderboard')).status === 200, { what: 'it serves again' });
    const again = await decide(service, tokens.grace, { runId, action: 'keep', expectedRevision: revision });
    assert.deepEqual([again.status, again.body.code], [409, 'stale-review'], 'it is still on its way after a kill');
    await remote.up();
    await service.settled(runs);
    for (const [i, { runId: id }] of held.entries())
      await until(async () => (await stateOf(service, id)).status === ['published', 'quarantined', 'withdrawn'][i % 3]
        && (await stateOf(service, id)).history.length === 2, { what: `${id} is decided` });
    const { lines, entries } = reviewedRemote(remote);
    assert.equal(lines.length, 2 * REVIEWS + RUNS);
    assert.equal(entries.length, REVIEWS - Math.floor(REVIEWS / 3) + RUNS);
    assert.equal((await service.json('/api/bench/leaderboard')).body.runs, Math.ceil(REVIEWS / 3) + RUNS);
    assertInStep(service);
    t.diagnostic(`${remote.pushes().length} pushes`);
  });

test('two instances reviewing the same run: one wins, the other hears stale-review', { timeout: 300_000 }, async (t) => {
  const { remote, services, tokens } = await start(t, { services: 2, latencyMs: 150, config: { submit_wait_ms: 20000 } });
  const held = await landFlagged(services[0], 6);
  for (const { runId } of held)
    await until(async () => (await stateOf(services[1], runId)).status === 'quarantined', { what: 'both know it' });
  let waited = 0;
  for (const [i, { runId, revision }] of held.entries()) {
    const answers = await Promise.all(services.map((service, who) => decide(service, [tokens.ada, tokens.grace][who],
      { runId, action: ACTIONS[(i + who) % 3], reason: `of ${who}`, expectedRevision: revision })));
    const codes = answers.map(({ status, body }) => `${status} ${body.code ?? ''}`.trim()).sort();
    assert.deepEqual(codes, ['200', '409 stale-review'], JSON.stringify(answers.map(({ body }) => body)));
    const winner = answers.findIndex(({ status }) => status === 200);
    for (const service of services)
      await until(async () => (await stateOf(service, runId)).revision === answers[winner].body.revision,
        { what: 'both show the winner' });
    const loser = services[1 - winner], { body } = answers[1 - winner];
    const ends = (result) => new RegExp(`run=${runId} result=${result}\\n`).test(loser.log);
    await until(() => ends('taken') || ends('stale-review'), { what: 'the log says whether it was on its way' });
    assert.deepEqual([body.status, body.revision], [{ release: 'published', keep: 'quarantined', withdraw: 'withdrawn' }[
      ACTIONS[(i + winner) % 3]], answers[winner].body.revision], 'a 409 says what the run is now');
    const { overtaken } = await stateOf(loser, runId);
    assert.equal(overtaken?.[0].reason, ends('taken') ? `of ${1 - winner}` : undefined);
    waited += ends('taken');
  }
  assert.ok(waited > 0, 'both were on their way once at least');
  assert.equal(reviewedRemote(remote).lines.length, 2 * held.length);
  for (const service of services) assertInStep(service);
});

test('a decision that somebody else overtook is dropped, logged and shown', { timeout: 300_000 }, async (t) => {
  const { remote, services: [first, second], tokens } = await start(t, { services: 2 });
  const [{ runId, revision }, other] = await landFlagged(first, 2);
  for (const id of [runId, other.runId])
    await until(async () => (await stateOf(second, id)).status === 'quarantined', { what: 'both know it' });
  await remote.down();
  const mine = await decide(first, tokens.ada, { runId, action: 'release', reason: 'mine', expectedRevision: revision });
  const also = await decide(first, tokens.ada, { runId: other.runId, action: 'keep', expectedRevision: other.revision });
  assert.deepEqual([mine.status, also.status], [202, 202], JSON.stringify([mine.body, also.body]));
  await first.stop('SIGKILL');
  await remote.up();
  const yours = await until(async () => {
    const answer = await decide(second, tokens.grace,
      { runId, action: 'withdraw', reason: 'yours', expectedRevision: revision });
    return (answer.status === 200 || answer.body.code === 'stale-review') && answer;
  }, { what: 'the other instance decides' });
  await until(async () => (await stateOf(second, runId)).status === 'withdrawn',
    { what: 'it is withdrawn', why: () => `${JSON.stringify(yours.body)}\n${second.log.slice(-4000)}` });
  await first.begin();
  await until(async () => (await stateOf(first, runId)).status === 'withdrawn', { what: 'the first one follows' });
  await until(async () => (await stateOf(first, other.runId)).history.length === 2, { what: 'the rest lands' });
  const { history, overtaken } = await stateOf(first, runId);
  assert.deepEqual(history.map(({ event, reason }) => [event, reason]), [['accept', undefined], ['decide', 'yours']]);
  assert.deepEqual(overtaken.map(({ action, by, reason }) => [action, by, reason]), [['release', 'ada', 'mine']]);
  assert.match(first.log, /a decision was dropped/);
  reviewedRemote(remote);
  assertInStep(first);
});

test('a decision that landed is not lost because another one came after it', { timeout: 300_000 }, async (t) => {
  const { remote, services: [first, second], tokens } = await start(t, { services: 2 });
  const [{ runId, revision }] = await landFlagged(first, 1);
  await until(async () => (await stateOf(second, runId)).status === 'quarantined', { what: 'both know it' });
  await remote.down();
  const mine = await decide(first, tokens.ada, { runId, action: 'keep', reason: 'mine', expectedRevision: revision });
  assert.equal(mine.status, 202);
  await first.stop('SIGKILL');
  await remote.up();
  /* What the first one would have pushed arrives; its answer is lost with it. */
  first.mirror('push', '-q', remote.repo, 'HEAD:main');
  await until(async () => (await stateOf(second, runId)).history.length === 2, { what: 'the other one sees it' });
  const next = await decide(second, tokens.grace, { runId, action: 'release', expectedRevision: revision + 1 });
  assert.ok([200, 202].includes(next.status), JSON.stringify(next.body));
  await until(async () => (await stateOf(second, runId)).status === 'published', { what: 'it is released' });
  await first.begin();
  await until(async () => (await stateOf(first, runId)).status === 'published', { what: 'the first one follows' });
  const { history, overtaken } = await stateOf(first, runId);
  assert.deepEqual(history.map(({ event, reason }) => [event, reason]).slice(0, 2), [['accept', undefined], ['decide', 'mine']]);
  assert.equal(overtaken, undefined, 'it is in the history, and not also lost');
  reviewedRemote(remote);
});

test('a submitter withdraws beside a remote: not before the run is there, then once', { timeout: 300_000 }, async (t) => {
  const { remote, service } = await start(t);
  const { code, headers } = withdrawCode(1);
  const withdraw = (runId) => service.json('/api/bench/withdraw', { method: 'POST',
    body: JSON.stringify({ runId, code }), headers: { 'content-type': 'application/json' } });
  const runs = await sealedRuns(service, 'mine', 3);
  await remote.down();
  const results = await postAll(service, runs, { clients: 3, headers });
  assert.ok(results.every(({ status }) => status === 202));
  for (const { runId } of runs) assert.equal((await withdraw(runId)).body.code, 'wrong-state');
  await remote.up();
  await service.settled(runs);
  const answer = await withdraw(runs[0].runId);
  assert.ok([200, 202].includes(answer.status), JSON.stringify(answer.body));
  await service.settled([runs[0]], 'withdrawn');
  assert.equal((await withdraw(runs[0].runId)).body.code, 'wrong-state');
  const { lines, entries } = reviewedRemote(remote);
  assert.equal(entries.length, 2);
  assert.equal(lines.at(-1).event, 'withdraw');
  assert.ok(remote.files().includes(`withdrawn/2026/01/${runs[0].runId}.json`));
});

for (const [what, tell] of [['names the run', 'echo "declined: $path" >&2'], ['names nothing', 'echo "declined" >&2']])
  test(`a decision that the host declines and ${what} is dropped, what came with it lands`, { timeout: 300_000 }, async (t) => {
    const { remote, service, tokens } = await start(t, { config: { submit_wait_ms: 60000 } });
    const [refused, taken] = await landFlagged(service, 2);
    const runs = await sealedRuns(service, 'beside', 6);
    remote.hook('pre-receive', `bad=0
while read -r old new ref; do
  for path in $(git ls-tree -r --name-only "$new" -- withdrawn); do ${tell}; bad=1; done
done
exit $bad`);
    const [no, yes, results] = await Promise.all([
      decide(service, tokens.ada, { runId: refused.runId, action: 'withdraw', expectedRevision: refused.revision }),
      decide(service, tokens.ada, { runId: taken.runId, action: 'release', expectedRevision: taken.revision }),
      postAll(service, runs, { clients: 6 })]);
    assert.deepEqual([no.status, no.body.code], [422, 'store-declined'], JSON.stringify(no.body));
    assert.equal(yes.status, 200, JSON.stringify(yes.body));
    assert.ok(results.every(({ status }) => status === 200));
    const state = await stateOf(service, refused.runId);
    assert.deepEqual([state.status, state.revision], ['quarantined', refused.revision]);
    assert.deepEqual([state.overtaken[0].action, state.overtaken[0].outcome], ['withdraw', 'declined']);
    remote.unhook('pre-receive');
    const again = await decide(service, tokens.ada,
      { runId: refused.runId, action: 'withdraw', expectedRevision: refused.revision });
    assert.equal(again.status, 200, 'it can be tried again');
    assert.equal(reviewedRemote(remote).lines.length, 2 + 6 + 2);
    assertInStep(service);
  });

/** A commit by hand on the remote's branch; CHANGE(git, blob) with git(...args) on its index and blob(text). */
function commitByHand(remote, change) {
  const env = { ...gitEnvironment(remote.repo), GIT_DIR: remote.repo, GIT_INDEX_FILE: `${remote.repo}/hand.index`,
    GIT_AUTHOR_NAME: 'm', GIT_AUTHOR_EMAIL: 'm@x', GIT_COMMITTER_NAME: 'm', GIT_COMMITTER_EMAIL: 'm@x' };
  const git = (...args) => execFileSync('git', args, { env, encoding: 'utf8' }).trim();
  git('read-tree', 'main');
  change(git, (text) => execFileSync('git', ['hash-object', '-w', '--stdin'], { env, input: text, encoding: 'utf8' }).trim());
  git('update-ref', 'refs/heads/main', git('commit-tree', git('write-tree'), '-p', 'main', '-m', 'by hand'));
}

for (const [what, change] of [
  ['a file lies in the place of a folder', (git, blob) => git('update-index', '--add', '--cacheinfo', `100644,${blob('x')},withdrawn`)],
  ['a folder lies in the place of its file', (git, blob, at) => {
    git('rm', '-q', '--cached', at);
    git('update-index', '--add', '--cacheinfo', `100644,${blob('x')},${at}/x`);
  }],
  ['its file is something else', (git, blob, at) =>
    git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},${at}`)]])
  test(`a queued decision that a commit by hand made impossible (${what}) is dropped, the rest lands`,
    { timeout: 300_000 }, async (t) => {
      const { remote, service, tokens } = await start(t);
      const [lost, other] = await landFlagged(service, 2);
      const { path: at } = await stateOf(service, lost.runId);
      const runs = await sealedRuns(service, 'beside', 3);
      await remote.down();
      const answers = await Promise.all([
        decide(service, tokens.ada, { runId: lost.runId, action: 'withdraw', expectedRevision: lost.revision }),
        decide(service, tokens.ada, { runId: other.runId, action: 'release', expectedRevision: other.revision }),
        ...runs.map((run) => service.post(run))]);
      assert.ok(answers.every(({ status }) => status === 202), JSON.stringify(answers.map(({ body }) => body)));
      commitByHand(remote, (git, blob) => change(git, blob, at));
      await remote.up();
      await service.settled(runs);
      await until(async () => (await stateOf(service, other.runId)).status === 'published', { what: 'the other decision lands' });
      const { overtaken } = await stateOf(service, lost.runId);
      assert.equal(overtaken[0].action, 'withdraw');
      assert.match(service.log, /dropped/);
      await service.ready();
    });
