// The host declines a push: the runs that are to blame end as declined, the others go through; when it is the
// branch, everything waits.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { startFileRemote, startRemote } from '../support/remote.mjs';
import { assertAll, checkDataset, describePushes, describeTimes, FULL, land, parked, postAll, sealedRuns, smallRun,
  startRemoteService } from '../support/remote_service.mjs';
import { makeRun, seal } from '../support/run.mjs';
import { SecretWatch } from '../support/secrets.mjs';

const MARKER = 'a-marker-that-the-host-dislikes';
const RUNS = 50, MARKED = 5;
const ids = (runs) => runs.map(({ runId }) => runId);
const isMarked = ({ runId }) => runId.startsWith('marked');

/** Declines what holds the marker; TELL is what it says of each file, "$path". */
const decliner = (tell) => `bad=0
while read -r old new ref; do
  for path in $(git grep -l ${MARKER} "$new" -- runs quarantine | sed 's/^[^:]*://'); do
    ${tell}
    bad=1
  done
done
exit $bad`;

/** 50 runs, every tenth of them marked when MARK. */
async function mixedRuns(service, name, mark) {
  const plain = await sealedRuns(service, name, RUNS);
  if (!mark) return plain;
  return Promise.all(plain.map(async (run, i) => (i % (RUNS / MARKED) !== 3 ? run : seal(
    { ...smallRun(`marked-${name}-${i}`, i), note: `it says ${MARKER}, and more` }, await service.nonce()))));
}

async function assertDeclined(service, remote, marked, results) {
  for (const { run, status, body } of results.filter((result) => isMarked(result.run))) {
    if (status !== 422) assert.equal(status, 202, JSON.stringify(body)); // it waited longer than a client does
    else assert.deepEqual([body.code, body.reason, body.path],
      ['store-declined', 'declined-by-host', `runs/2026/01/${run.runId}.json`]);
    assert.ok(!JSON.stringify(body).includes('GH013'), 'the raw text of the host goes to the log');
  }
  await service.settled(marked, 'declined');
  assert.deepEqual(parked(service, 'declined'), marked.map(({ digest }) => digest).sort());
  const names = service.mirror('ls-tree', '-r', '--name-only', `refs/heads/${remote.branch}`);
  for (const { runId } of marked) assert.ok(!names.includes(runId), 'it is out of the branch');
  for (const { runId, digest } of marked)
    assert.ok(service.mirror('log', '-1', '--format=', '--name-only', `refs/parked/declined/${digest}`, '--')
      .includes(runId) || service.mirror('ls-tree', '-r', '--name-only', `refs/parked/declined/${digest}`).includes(runId),
    'it is kept for the maintainer');
  const watch = new SecretWatch();
  watch.needles.push({ name: 'marker', text: MARKER });
  await watch.lookAtObjects(remote.repo);
  assert.deepEqual([...watch.found], [], 'nothing marked has reached the remote');
}

for (const [what, tell, latencyMs] of [
  ['names the files', 'echo "error: GH013: rule violations, path: $path:1" >&2', 50],
  ['names nothing', 'echo "error: GH013: rule violations" >&2', 0], // it is found by halving: some 30 pushes
])
  test(`5 of 50 are declined by a hook that ${what}`, { timeout: 300_000 }, async (t) => {
    const remote = await startRemote(t, { latencyMs });
    const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 30_000 } });
    await service.ready();
    const calm = await postAll(service, await mixedRuns(service, 'calm', false), { clients: 25 });
    assertAll(calm, 200);
    remote.hook('pre-receive', decliner(tell));
    const before = remote.pushes().length;
    const runs = await mixedRuns(service, 'mixed', true);
    const results = await postAll(service, runs, { clients: 25 });
    const others = results.filter(({ run }) => !isMarked(run));
    t.diagnostic(`without: ${describeTimes(calm)}; the others: ${describeTimes(others)}`);
    t.diagnostic(describePushes(remote.pushes().slice(before)));
    assertAll(others, 200);
    for (const { body } of others) assert.match(body.commit, /^[0-9a-f]{40}$/);
    const most = (list) => Math.max(...list.map(({ ms }) => ms));
    if (FULL) assert.ok(most(others) - most(calm) < 10_000, 'the others hardly wait longer');
    await assertDeclined(service, remote, runs.filter(isMarked), results);
    await checkDataset(remote, [...ids(calm.map(({ run }) => run)), ...ids(runs.filter((run) => !isMarked(run)))]);
    assert.equal((await service.json('/readyz')).status, 200, 'runs that are declined are no fault of the branch');
    remote.unhook('pre-receive');
    await service.restart();
    await service.ready();
    for (const run of runs.filter(isMarked)) assert.equal((await service.fate(run)).status, 'declined', 'also after a start');
    await service.checkSecrets();
  });

test('a file remote declines too, while the runs wait here', { timeout: 120_000 }, async (t) => {
  const remote = startFileRemote(t, { hooks: { 'pre-receive': decliner(':') } });
  const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 2500 } });
  await service.ready();
  remote.vanish();
  const runs = await mixedRuns(service, 'offline', true);
  const results = await postAll(service, runs, { clients: 10 });
  assertAll(results, 202);
  remote.reappear();
  await service.settled(runs.filter((run) => !isMarked(run)));
  await assertDeclined(service, remote, runs.filter(isMarked), results);
  await checkDataset(remote, ids(runs.filter((run) => !isMarked(run))));
  await service.checkSecrets();
});

test('a branch that closes after a run was declined for itself parks nobody else', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t, { hooks: { 'pre-receive': decliner(':') } });
  const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 2500 } });
  await service.ready();
  const runs = await mixedRuns(service, 'first', true);
  const marked = runs.filter(isMarked)[0];
  await postAll(service, [marked]);
  await service.settled([marked], 'declined');
  remote.hook('pre-receive', 'exit 1');
  const innocent = runs.filter((run) => !isMarked(run)).slice(0, 3);
  assertAll(await postAll(service, innocent, { clients: 1 }), 202);
  await service.unready('remote-declined:');
  for (const run of innocent) assert.equal((await service.fate(run)).status, 'queued');
  remote.unhook('pre-receive');
  await service.settled(innocent);
  assert.deepEqual(parked(service, 'declined'), [marked.digest]);
  await checkDataset(remote, ids(innocent));
});

test('a run whose id is like the words of a host about its branch closes nothing', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t, { hooks: { 'pre-receive': decliner('echo "path: $path" >&2') } });
  const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 2500 } });
  await service.ready();
  const bait = seal({ ...smallRun('GH006-protected-branch', 77), note: `it says ${MARKER}` },
    await service.nonce());
  const others = await sealedRuns(service, 'beside', 4);
  await postAll(service, [bait, ...others], { clients: 5 });
  await service.settled(others);
  await service.settled([bait], 'declined');
  await checkDataset(remote, ids(others));
});

test('a hook that declines everything: runs wait, readiness is red, nothing is lost', { timeout: 180_000 }, async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 2500 } });
  await service.ready();
  const first = await sealedRuns(service, 'fine', 3);
  await land(service, first);
  remote.hook('pre-receive', 'echo "GH006: Protected branch update failed" >&2; exit 1');
  const runs = await sealedRuns(service, 'protected', 20);
  assertAll(await postAll(service, runs), 202);
  const reasons = await service.unready('remote-declined:', 60_000);
  t.diagnostic(reasons.join(' / '));
  assert.ok(!reasons.join().includes('GH006'), 'the raw text of the host goes to the log');
  assert.match(service.log, /GH006/);
  assert.deepEqual(parked(service, 'declined'), [], 'no run is to blame');
  for (const run of runs) assert.equal((await service.fate(run)).status, 'queued');
  const more = await sealedRuns(service, 'meanwhile', 5);
  assertAll(await postAll(service, more), 202);
  await service.stop('SIGKILL');
  await service.begin();
  await service.unready('remote-declined:', 60_000);
  remote.unhook('pre-receive');
  await service.settled([...runs, ...more]);
  await service.ready();
  await checkDataset(remote, ids([...first, ...runs, ...more]));
  await service.checkSecrets();
});

/** A run in whose first generated text BAIT stands, with a trace that fits. */
function baitRun(id, bait) {
  const run = makeRun({ id, cells: ['llm'] });
  const [iteration] = run.cells[0].iterations;
  iteration.text = bait + iteration.text.slice(bait.length);
  return run;
}

test('what looks like a secret is refused before anything is committed', { timeout: 120_000 }, async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote);
  await service.ready();
  const hex = () => randomBytes(32).toString('hex');
  const baits = [`ghp_${hex().slice(0, 36)}`, `AKIA${'7QZ3K5RTXN2M4PLW'}`, `github_pat_${hex().slice(0, 22)}_${(hex() + hex()).slice(0, 59)}`];
  const watch = new SecretWatch();
  for (const [i, bait] of baits.entries()) {
    watch.needles.push({ name: bait.slice(0, 6), text: bait });
    const answer = await service.submit(baitRun(`bait-run-${1000 + i}`, `${bait} `));
    assert.equal(answer.status, 422, JSON.stringify(answer.body));
    assert.equal(answer.body.code, 'store-declined');
    assert.equal(answer.body.reason, 'secret-like');
    assert.equal(answer.body.path, `runs/2026/01/bait-run-${1000 + i}.json`);
    assert.ok(!JSON.stringify(answer.body).includes(bait));
    assert.equal((await service.json(`/api/bench/runs/bait-run-${1000 + i}`)).status, 404);
  }
  assertAll(await postAll(service, await sealedRuns(service, 'innocent', 5)), 200);
  watch.look('the log', service.allLogs);
  await watch.lookAtObjects(service.mirrorPath);
  await watch.lookAtObjects(remote.repo);
  assert.deepEqual([...watch.found], []);
  await checkDataset(remote);
  await service.checkSecrets();
});
