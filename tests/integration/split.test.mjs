// A dataset that was split by year, as the README says: the service shows both repositories, knows what the old one has, and
// never writes to it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { until } from '../support/remote_service.mjs';
import { makeRun, seal } from '../support/run.mjs';
import { command, startService } from '../support/service.mjs';

const CODE = 'c'.repeat(43), WITHDRAW = { 'x-withdraw-sha256': createHash('sha256').update(CODE).digest('hex') };
const SECRET = 'a nonce secret of more than 32 bytes';
const makeOne = (i) => makeRun({ id: `split-run-${i}`, seed: i + 1, createdAt: `2026-0${1 + i % 9}-0${1 + i % 7}T00:00:00.000Z`,
  gpuModel: `RTX ${3000 + i % 3}` });

/** Runs the commands of the README in FOLDER, where OLD is. */
function split(folder, OLD, NEW) {
  const [, script] = /\*\*Split a dataset by year\.\*\*.*?```sh\n(.*?)\n *```/s.exec(readFileSync(new URL('../../README.md', import.meta.url), 'utf8'));
  const lines = script.split('\n').map((line) => line.trim());
  assert.match(lines[0], /^OLD=/);
  execFileSync('sh', ['-euc', lines.slice(1).join('\n')], { cwd: folder, env: { PATH: process.env.PATH, OLD, NEW, URL: 'https://git.example/old',
    GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' }, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Every file below FOLDER with what a write would change. */
function snapshot(folder) {
  return readdirSync(folder, { recursive: true }).sort().map((name) => {
    const { mtimeMs, ctimeMs, size, ino } = lstatSync(path.join(folder, name));
    return [name, mtimeMs, ctimeMs, size, ino];
  });
}

async function submitAll(service, from, to) {
  const answers = [];
  for (let i = from; i < to; i++) {
    const run = seal(makeOne(i), await service.nonce());
    const { status, body } = await service.post(run, { headers: WITHDRAW });
    assert.equal(status, 200, JSON.stringify(body));
    answers.push({ run, body });
  }
  return answers;
}

async function startSplit(t, options = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-split-')), key = path.join(folder, 'receipt.key');
  assert.equal((await command(['keygen', key])).code, 0);
  const env = { BENCH_NONCE_SECRET: SECRET }, config = { receipt_key_file: key };
  const old = await startService(t, { store: path.join(folder, 'old.git'), env, config });
  const accepted = await submitAll(old, 0, 6);
  await old.stop();
  split(folder, 'old.git', 'new.git');
  const before = snapshot(old.store);
  const service = await startService(t, { store: path.join(folder, 'new.git'), env, config: { ...config, archives: old.store, ...options } });
  t.after(() => rmSync(folder, { recursive: true, force: true })); // when the services have ended
  return { folder, old, service, accepted, before };
}

test('the board over both is that of the dataset in one piece', async (t) => {
  const whole = await startService(t);
  await submitAll(whole, 0, 12);
  const { old, service, before } = await startSplit(t, { refresh_every_s: 1 });
  assert.deepEqual(Object.keys(JSON.parse(service.file('archives.json')).archives[0]), ['url', 'ledgerSha256']);
  for (const [from, to] of [[6, 6], [6, 12]]) {
    await submitAll(service, from, to);
    if (to < 12) assert.equal((await service.json('/api/bench/leaderboard')).body.entries, 6);
  }
  for (let round = 0; round < 2; round++) {
    for (const query of ['', '?q=3001', '?browser=Chrome&sort=-submissions']) {
      const [one, other] = await Promise.all([service, whole].map(async (side) => (await side.json(`/api/bench/leaderboard${query}`)).body));
      assert.deepEqual({ ...one, generatedAt: '' }, { ...other, generatedAt: '' }, query);
    }
    const rows = JSON.stringify((await whole.json('/api/bench/leaderboard')).body.rows);
    assert.equal((await command(['rows', '--archive', old.store, service.store])).stdout, rows);
    await until(() => service.files().includes('index/leaderboard.json') && JSON.parse(service.file('index/leaderboard.json')).entries === 12, { what: 'a refresh' });
    assert.equal(JSON.stringify(JSON.parse(service.file('index/leaderboard.json')).rows), rows);
    const rebuilt = await command(['index', '--dry-run', '--archive', old.store, service.store]);
    assert.match(rebuilt.stdout, /, unchanged\n$/, rebuilt.stdout + rebuilt.stderr);
    await service.restart();
  }
  assert.deepEqual(snapshot(old.store), before, 'nothing was written to the old one');
});

test('what the old one has is found, and stays taken', async (t) => {
  const { old, service, accepted, before } = await startSplit(t);
  const [{ run, body }] = accepted, { runId } = run;
  assert.equal((await service.json(`/api/bench/runs/${runId}`)).body.status, 'published');
  assert.equal((await service.json(`/api/bench/runs/${runId}`)).body.commit, body.commit);
  assert.equal((await service.fetch(`/run/${runId}`)).status, 200);
  const file = await service.fetch(`/${body.path}`);
  assert.deepEqual([file.status, Buffer.from(await file.arrayBuffer())], [200, old.file(body.path)]);
  const { rows: [row] } = (await service.json('/api/bench/leaderboard')).body;
  const page = await service.fetch(`/row?${new URLSearchParams(['protocol', 'deviceSubclass', 'runtimeId', 'benchModelId', 'workloadId'].map((key) => [key, row[key]]))}`);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /split-run-\d/);

  const again = await service.post(run);
  assert.deepEqual([again.status, again.body.code, again.body.same, again.body.path], [409, 'duplicate-run', true, body.path]);
  assert.deepEqual(again.body.receipt, body.receipt);
  const other = await service.submit({ ...makeOne(7), runId: runId.toUpperCase() });
  assert.deepEqual([other.status, other.body.code, other.body.same ?? false], [409, 'duplicate-run', false]);
  const spent = await service.post(seal(makeOne(8), run.nonce));
  assert.deepEqual([spent.status, spent.body.code], [409, 'nonce-used']);

  const withdraw = () => service.json('/api/bench/withdraw', { method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ runId, code: CODE }) });
  assert.deepEqual([(await withdraw()).status, (await withdraw()).body.code], [409, 'wrong-state']);
  assert.equal((await submitAll(service, 9, 10))[0].body.receipt.payload.runId, 'split-run-9');
  assert.equal((await service.json('/api/bench/key')).body.keys.length, 1);
  assert.deepEqual(snapshot(old.store), before);
});

test('other archives than archives.json names are not taken', async (t) => {
  const { folder, old, service } = await startSplit(t);
  await service.stop();
  const stranger = await startService(t);
  await submitAll(stranger, 0, 1);
  await stranger.stop();
  const serve = (archives) => command(['serve', '--listen=127.0.0.1:0', `--state-dir=${folder}/state`, '--store', service.store, `--archives=${archives}`]);
  for (const [archives, words] of [[stranger.store, /archives\.json/], [`${old.store} ${stranger.store}`, /archives\.json/],
    [path.join(folder, 'nothing.git'), /nothing\.git/], [path.join(folder, 'begin'), /work tree/]]) {
    const { code, stderr } = await serve(archives);
    assert.equal(code, 1, stderr);
    assert.match(stderr, words);
  }
});
