// index and rows: over a plain folder, a work tree and a bare repository.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { corpusFiles, NO_CORPUS } from '../support/corpus.mjs';
import { flaggedRun, makeRun, seal } from '../support/review.mjs';
import { command, startService } from '../support/service.mjs';

const temporary = (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-dataset-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
const read = (folder, name) => readFileSync(path.join(folder, name));
const git = (folder, ...args) => execFileSync('git', ['-C', folder, '-c', 'user.name=t',
  '-c', 'user.email=t@example.org', ...args], { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });

const leaderboard = ({ entries, runs, protocols = ['localmode-bench/5', 'localmode-bench/4'], rows }) =>
  JSON.stringify({ version: 1, entries, runs, protocols, provisionalBy: 'submissions', rows });

/** A folder with three runs in two months and one that is quarantined, whatever rules would say. */
function makeFolder(t) {
  const folder = temporary(t);
  const put = (kind, month, id, options) => {
    mkdirSync(path.join(folder, kind, '2026', month), { recursive: true });
    writeFileSync(path.join(folder, kind, '2026', month, `${id}.json`),
      JSON.stringify(seal(makeRun({ id, createdAt: `2026-${month}-05T00:00:00.000Z`, ...options }))));
  };
  put('runs', '02', 'folder-run-b', { seed: 2 });
  put('runs', '01', 'folder-run-c', { seed: 3 });
  put('runs', '01', 'folder-run-a', { seed: 1, protocol: 'localmode-bench/4' });
  put('quarantine', '01', 'folder-run-q', { seed: 4 });
  return folder;
}

test('a plain folder gets an index in order of creation, flagged by folder', async (t) => {
  const folder = makeFolder(t);
  const before = await command(['rows', folder]);
  assert.equal(before.code, 0, before.stderr);

  const dry = await command(['index', '--dry-run', folder]);
  assert.equal(dry.code, 0, dry.stderr);
  assert.ok(!existsSync(path.join(folder, 'index')));

  const made = await command(['index', folder]);
  assert.equal(made.code, 0, made.stderr);
  const entries = JSON.parse(read(folder, 'index/summary.json'));
  assert.deepEqual(entries.map((entry) => [entry.runId, entry.flagged]), [
    ['folder-run-q', true], ['folder-run-a', false], ['folder-run-c', false], ['folder-run-b', false]]);
  assert.deepEqual(JSON.parse(read(folder, 'index/segments/00001.json')), entries);
  for (const entry of entries) {
    const alone = await command(['entry', path.join(folder, entry.path)]);
    if (!entry.flagged) assert.equal(alone.stdout, JSON.stringify(entry));
  }

  const after = await command(['rows', folder]);
  assert.equal(after.stdout, before.stdout, 'rows are the same with and without an index');
  const rows = JSON.parse(after.stdout);
  assert.ok(rows.some((row) => row.protocol === 'localmode-bench/4' && row.submissions === 1));
  assert.ok(rows.some((row) => row.protocol === 'localmode-bench/5' && row.submissions === 2));
  assert.equal(read(folder, 'index/leaderboard.json').toString(), leaderboard({ entries: 4, runs: 3, rows }));
  const again = await command(['index', folder]);
  assert.match(again.stdout, /, unchanged\n$/);
  assert.equal((await command(['index', '--protocols', 'localmode-bench/4', folder])).code, 0);
  assert.equal(read(folder, 'index/leaderboard.json').toString(), leaderboard({ entries: 4, runs: 1,
    protocols: ['localmode-bench/4'], rows: rows.filter((row) => row.protocol === 'localmode-bench/4') }));
});

test('an index never loses a run or an unreadable file silently', async (t) => {
  const folder = makeFolder(t);
  assert.equal((await command(['index', folder])).code, 0);
  const summary = read(folder, 'index/summary.json');

  await t.test('a file that is gone', async () => {
    rmSync(path.join(folder, 'runs/2026/02/folder-run-b.json'));
    const refused = await command(['index', folder]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /folder-run-b/);
    assert.deepEqual(read(folder, 'index/summary.json'), summary);
    assert.equal((await command(['index', '--allow-shrink', folder])).code, 0);
    assert.equal(JSON.parse(read(folder, 'index/summary.json')).length, 3);
  });
  await t.test('a file that is no run', async () => {
    const kept = read(folder, 'index/summary.json');
    writeFileSync(path.join(folder, 'runs/2026/01/broken.json'), '{"protocol":');
    const refused = await command(['index', folder]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /broken\.json: is not JSON/);
    assert.deepEqual(read(folder, 'index/summary.json'), kept);
    rmSync(path.join(folder, 'runs/2026/01/broken.json'));
  });
  await t.test('an index that cannot be read', async () => {
    writeFileSync(path.join(folder, 'index/manifest.json'), '{');
    assert.equal((await command(['rows', folder])).code, 3);
    assert.equal((await command(['index', folder])).code, 2);
    assert.equal(read(folder, 'index/manifest.json').toString(), '{');
    assert.equal((await command(['index', '--allow-shrink', folder])).code, 0);
    assert.equal((await command(['rows', folder])).code, 0);
  });
});

test('a bare repository and its work tree give what the service served', async (t) => {
  const service = await startService(t);
  for (let i = 0; i < 3; i++) {
    const answer = await service.submit(makeRun({ id: `served-run-${i}000`, seed: i + 1,
      createdAt: `2026-0${3 - i}-01T00:00:00.000Z` }));
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }
  const board = (await service.json('/api/bench/leaderboard')).body;

  const tip = service.git('rev-parse', 'HEAD');
  const unchanged = await command(['index', service.store]);
  assert.equal(unchanged.code, 0, unchanged.stderr);
  assert.equal(service.git('diff', '--name-only', tip.trim(), 'HEAD'), 'index/leaderboard.json\n',
    'rebuilt in order of acceptance, byte for byte, and the rows beside it');
  assert.equal(service.file('index/leaderboard.json').toString(), leaderboard({ entries: 3, runs: 3, rows: board.rows }));
  for (let tries = 0; ; tries++) {
    const served = await service.fetch('/index/leaderboard.json');
    if (served.status === 200) {
      assert.equal(served.headers.get('access-control-allow-origin'), '*');
      assert.equal(served.headers.get('etag').replace('W/', ''), `"${service.git('rev-parse', 'HEAD:index/leaderboard.json').trim()}"`);
      assert.deepEqual(Buffer.from(await served.arrayBuffer()), service.file('index/leaderboard.json'));
      break;
    }
    assert.ok(tries < 100, 'the service serves it');
    await new Promise((wake) => setTimeout(wake, 100));
  }
  assert.deepEqual(JSON.parse((await command(['rows', service.store])).stdout), board.rows);

  const tree = path.join(temporary(t), 'tree');
  execFileSync('git', ['clone', '-q', service.store, tree], { stdio: 'ignore' });
  assert.deepEqual(JSON.parse((await command(['rows', tree])).stdout), board.rows);

  // A maintainer takes a run away, the index is rebuilt in the bare repository, the service follows.
  git(tree, 'rm', '-q', 'runs/2026/02/served-run-1000.json');
  git(tree, 'commit', '-q', '-m', 'take one away');
  git(tree, 'push', '-q', 'origin', 'HEAD');
  assert.equal((await command(['index', service.store])).code, 2);
  const rebuilt = await command(['index', '--allow-shrink', service.store]);
  assert.equal(rebuilt.code, 0, rebuilt.stderr);
  assert.match(rebuilt.stdout, /written in commit [0-9a-f]{40}/);
  for (let tries = 0; ; tries++) {
    const now = (await service.json('/api/bench/leaderboard')).body;
    if (now.entries === 2) break;
    assert.ok(tries < 100, 'the service notices a foreign commit');
    await new Promise((wake) => setTimeout(wake, 100));
  }
});

test('what is no dataset is said to be none', async (t) => {
  const folder = temporary(t);
  for (const name of ['index', 'rows']) {
    const refused = await command([name, folder]);
    assert.equal(refused.code, 3);
    assert.match(refused.stderr, /^benchledger: /);
    assert.equal((await command([name])).code, 64);
  }
});

/** Posts the runs, takes index/ away from a work tree of what came of it, and compares what `index` makes from its files. */
async function rebuiltFromFiles(t, service, wanted) {
  const tree = temporary(t);
  execFileSync('git', ['clone', '-q', service.store, tree]);
  rmSync(path.join(tree, 'index'), { recursive: true });
  const { code, stdout, stderr } = await command(['index', tree]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, new RegExp(`^runs ${wanted}, `));
  const names = service.files().filter((name) => /^index\/(segments|manifest|summary)/.test(name));
  assert.ok(names.length >= 3);
  for (const name of names) assert.ok(read(tree, name).equals(service.file(name)), name);
  return tree;
}

test('an index made from nothing but files is that of the submissions, to the byte', async (t) => {
  const service = await startService(t);
  for (let i = 0; i < 40; i++) {
    const { status, body } = await service.submit((i % 7 === 3 ? flaggedRun : makeRun)({ id: `order-run-${(i * 17) % 40 + 10}`,
      seed: i + 1, createdAt: `2026-0${1 + (i * 5) % 9}-01T00:00:00.000Z`, protocol: 'localmode-bench/5',
      gpuModel: i % 3 ? 'Adreno (TM) 650' : 'Ünïcode \u{1F600} GPU 1' }));
    assert.equal(status, 200, JSON.stringify(body));
  }
  await rebuiltFromFiles(t, service, 40);
});

test('the real files, submitted, are published and indexed as `entry` says', { skip: NO_CORPUS }, async (t) => {
  const files = corpusFiles(), runs = files.map((file) => JSON.parse(readFileSync(file)));
  const service = await startService(t, { config: { protocols: [...new Set(runs.map((run) => run.protocol))].join(',') } });
  for (const run of runs) {
    const { status, body } = await service.post({ ...run, nonce: await service.nonce() });
    assert.equal(status, 200, JSON.stringify(body));
  }
  const tree = await rebuiltFromFiles(t, service, files.length);
  const entries = JSON.parse(read(tree, 'index/summary.json'));
  for (const [i, file] of files.entries()) {
    const { stdout } = await command(['entry', file]);
    assert.equal(JSON.stringify(entries[i]), stdout);
    assert.ok(service.file(entries[i].path).equals(readFileSync(file)), 'the published bytes are those of the file');
  }
});
