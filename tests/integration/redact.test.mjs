// A run is taken out for good: from the tip, and by README's steps from the remote's history.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { startFileRemote } from '../support/remote.mjs';
import { assertInStep, postAll, sealedRuns, startRemoteService, until } from '../support/remote_service.mjs';
import { checkReviewed, flaggedRun, makeRun, reviewed, stateOf } from '../support/review.mjs';
import { BINARY, command, startService } from '../support/service.mjs';

const GONE = 'gone-run-0000';
const redact = (dataset, ...args) => command(['redact', dataset, ...args]);

test('a run leaves the tip of a local store while it is served', async (t) => {
  const service = await startService(t);
  for (const [i, make] of [makeRun, flaggedRun, makeRun].entries())
    assert.equal((await service.submit(make({ id: `${GONE.slice(0, -1)}${i}`, seed: i + 1 }))).status, 200);
  for (const [i, kind] of ['runs', 'quarantine'].entries()) {
    const id = `${GONE.slice(0, -1)}${i}`;
    assert.equal((await service.fetch(`/${kind}/2026/01/${id}.json`)).status, 200);
    const { code, stdout, stderr } = await redact(service.store, id.toUpperCase(), '--reason', 'case\n12', '--by', 'ada');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /redacted .* in commit [0-9a-f]{40}/);
    await until(async () => (await stateOf(service, id)).status === 'withdrawn', { what: 'the service follows' });
    assert.ok([404, 410].includes((await service.fetch(`/${kind}/2026/01/${id}.json`)).status));
    assert.equal((await service.fetch(`/run/${id}`)).status, 410);
    const { history } = await stateOf(service, id);
    assert.deepEqual([history[1].event, history[1].by, history[1].reason, history[1].path],
      ['redact', 'ada', 'case 12', undefined]);
    assert.equal((await service.submit(makeRun({ id, seed: 9 }))).body.code, 'duplicate-run', 'its id stays taken');
  }
  const { entries, names } = reviewed(service);
  assert.deepEqual(entries.map((entry) => entry.runId), ['gone-run-0002']);
  assert.equal(names.filter((name) => /^(runs|quarantine|withdrawn)/.test(name)).length, 1);
  await service.restart();
  assert.equal((await stateOf(service, GONE)).status, 'withdrawn');
  assert.equal((await service.json('/api/bench/leaderboard')).body.runs, 1);
  const before = service.git('rev-parse', 'HEAD');
  for (const [args, wanted] of [[[GONE, '--reason', 'x'], 2], [['nobody-knows', '--reason', 'x'], 2], [[GONE], 64],
    [[GONE, '--reason', ' \n '], 64], [[GONE, '--reason', 'x', '--by', '\u202e'], 64]])
    assert.equal((await redact(service.store, ...args)).code, wanted, args.join(' '));
  /* Bytes that are no UTF-8, which node cannot pass. */
  const { status } = spawnSync('sh', ['-c', `exec "$0" redact "$1" gone-run-0002 --reason x --by "$(printf 'mal\\377')"`,
    BINARY, service.store]);
  assert.equal(status, 64);
  assert.equal((await redact(path.join(service.folder, 'nothing'), GONE, '--reason', 'x')).code, 3);
  assert.equal(service.git('rev-parse', 'HEAD'), before);
});

test('history is rewritten by the steps of README, and a mirror that was offline brings nothing back',
  { timeout: 300_000 }, async (t) => {
    const remote = await startFileRemote(t);
    const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 3000 } });
    await service.ready();
    const runs = await sealedRuns(service, 'gone-run', 4);
    await postAll(service, runs, { clients: 2 });
    await service.settled(runs);
    const blob = remote.git('rev-parse', `HEAD:runs/2026/01/${GONE}.json`).trim();
    const away = await startRemoteService(t, remote, { config: { submit_wait_ms: 3000 } });
    await away.ready();
    const late = await sealedRuns(away, 'late-run', 3);
    remote.vanish();
    const results = await postAll(away, late, { clients: 3 });
    assert.ok(results.every(({ status }) => status === 202));
    await away.stop('SIGKILL');
    remote.reappear();
    assert.equal((await redact(service.mirrorPath, GONE, '--reason', 'x')).code, 3, 'not in a mirror');

    const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-redact-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const clone = path.join(folder, 'dataset.git');
    const git = (...args) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    git('clone', '-q', '--bare', remote.url, clone);
    const done = await redact(clone, GONE, '--reason', 'a request by law');
    assert.equal(done.code, 0, done.stderr);
    const old = git('-C', clone, 'rev-parse', 'HEAD^').trim();
    const [, ...args] = done.stdout.trim().split('\n').at(-1).split(' ');
    assert.deepEqual(args, ['filter-repo', '--force', '--invert-paths', '--path', 'index/',
      ...['runs', 'quarantine', 'withdrawn'].flatMap((folder) => ['--path', `${folder}/2026/01/${GONE}.json`])]);
    git('-C', clone, ...args);
    const { code, stderr } = await command(['index', clone]);
    assert.equal(code, 0, stderr);
    git('-C', clone, 'push', '-q', `--force-with-lease=main:${old}`, remote.url, 'HEAD:main');
    remote.git('reflog', 'expire', '--expire=now', '--all');
    remote.git('gc', '--quiet', '--prune=now');
    const holds = () => {
      try { remote.git('cat-file', '-e', blob); return true; } catch { return false; }
    };
    assert.equal(holds(), false);
    await until(async () => (await stateOf(service, GONE)).status === 'withdrawn', { what: 'the one that ran follows' });
    await away.begin();
    await away.settled(late);
    for (const one of [service, away]) {
      await until(async () => (await one.json('/api/bench/leaderboard')).body.runs === 6, { what: 'both show the same' });
      assert.equal((await stateOf(one, GONE)).status, 'withdrawn');
    }
    assert.equal(holds(), false, 'nobody brought it back');
    assert.ok(!remote.git('log', '--all', '--format=', '--name-only').includes(`runs/2026/01/${GONE}.json`));
    assert.ok(!remote.git('log', '--all', '-p', '--', 'index').includes(GONE), 'nor an older index');
    const { lines } = checkReviewed({ files: () => remote.files(), file: (name) => remote.file(name) });
    assert.equal(lines.length, 8);
    assertInStep(away);
  });
