// import: runs that were exported come into a dataset as a submission would, with who did it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { assertSound, auditClean } from '../support/audit.mjs';
import { flaggedRun, makeRun, seal, stateOf } from '../support/review.mjs';
import { command, startService } from '../support/service.mjs';
import { until } from '../support/remote_service.mjs';

function temporary(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-import-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
const git = (at, ...args) => execFileSync('git', ['-C', at, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** Writes runs as a page exports them: sealed, without a nonce; gives their names. */
function exported(folder, runs) {
  return runs.map((run, i) => {
    const name = path.join(folder, `export-${i}.json`);
    writeFileSync(name, typeof run === 'string' ? run : JSON.stringify(seal(run, undefined)));
    return name;
  });
}
const importing = (dataset, files, ...args) => command(['import', '--by', 'ada', ...args, dataset, ...files]);
const lines = (text) => text.trimEnd().split('\n').map((line) => JSON.parse(line));

test('into the store of a running service, which follows', async (t) => {
  const service = await startService(t);
  const folder = temporary(t);
  assert.equal((await service.submit(makeRun({ id: 'import-run-own', seed: 1 }))).status, 200);
  const personal = makeRun({ id: 'import-run-scrub', seed: 4 });
  personal.environment.languages = ['de', 'en'];
  const files = exported(folder, [makeRun({ id: 'import-run-0001', seed: 2 }), flaggedRun({ id: 'import-run-0002', seed: 3 }), personal]);
  const { code, stdout, stderr } = await importing(service.store, files);
  assert.equal(code, 0, stderr);
  const commit = service.git('rev-parse', 'HEAD').trim();
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    `added runs/2026/01/import-run-0001.json in commit ${commit}`,
    `added quarantine/2026/01/import-run-0002.json in commit ${commit}`,
    `added runs/2026/01/import-run-scrub.json in commit ${commit}`,
    'added 3 (1 quarantined), known 0, refused 0']);
  assertSound(service.store);
  const ledger = service.files().filter((name) => name.startsWith('ledger/')).flatMap((name) => lines(service.file(name).toString()));
  assert.deepEqual(ledger.map(({ runId, by, nonceSha256 }) => [runId, by, nonceSha256 !== undefined]), [
    ['import-run-own', undefined, true], ['import-run-0001', 'ada', false], ['import-run-0002', 'ada', false],
    ['import-run-scrub', 'ada', false]]);
  const published = JSON.parse(service.file('runs/2026/01/import-run-scrub.json'));
  assert.equal(published.environment.languages, undefined);
  assert.ok(published.scrubbedAt);
  await until(async () => (await stateOf(service, 'import-run-0002')).status === 'quarantined', { what: 'the service follows' });
  assert.equal((await service.json('/api/bench/leaderboard')).body.runs, 3);

  /* Once more: nothing new, no commit; the same by its submitted digest, though it was scrubbed. */
  const again = await importing(service.store, files);
  assert.equal(again.code, 0, again.stderr);
  assert.match(again.stdout, /added 0 \(0 quarantined\), known 3, refused 0\n$/);
  assert.equal(service.git('rev-parse', 'HEAD').trim(), commit);
  /* Another run under a known id, whatever its case and month. */
  const other = await importing(service.store, exported(folder,
    [makeRun({ id: 'IMPORT-run-0001', seed: 9, createdAt: '2026-05-01T00:00:00.000Z' })]));
  assert.equal(other.code, 2);
  assert.match(other.stderr, /IMPORT-run-0001: duplicate-run/);
  assert.equal(service.git('rev-parse', 'HEAD').trim(), commit);
  /* The service goes on from there. */
  assert.equal((await service.submit(makeRun({ id: 'import-run-after', seed: 6 }))).status, 200);
  assert.equal((await service.submit(makeRun({ id: 'import-run-0001', seed: 2 }))).body.code, 'duplicate-run');
  assertSound(service.store);
});

test('what a submission would be refused for is refused, the others come in', async (t) => {
  const service = await startService(t);
  const folder = temporary(t);
  await service.stop();
  const wrong = seal(makeRun({ id: 'import-run-wrong', seed: 1 }), undefined);
  wrong.suite = 'thorough';
  const bait = makeRun({ id: 'import-run-bait', seed: 2 });
  bait.cells[0].iterations[0].text = `ghp_${'a1B2'.repeat(9)}`.padEnd(bait.cells[0].iterations[0].text.length, ' ');
  const files = exported(folder, ['{"runId":', JSON.stringify(wrong), makeRun({ id: 'short', seed: 3 }),
    makeRun({ id: 'import-run-early', seed: 4, createdAt: '2025-12-31T23:59:59.000Z' }),
    makeRun({ id: 'import-run-old', seed: 5, protocol: 'localmode-bench/4' }), bait,
    makeRun({ id: 'import-run-twice', seed: 6 }), makeRun({ id: 'import-run-twice', seed: 7 }),
    makeRun({ id: 'import-run-twice', seed: 6 })]);
  const { code, stdout, stderr } = await importing(service.store, [...files, path.join(folder, 'nothing')]);
  assert.equal(code, 2);
  assert.match(stdout, /added 1 \(0 quarantined\), known 1, refused 8\n$/);
  for (const said of [/export-0.json: is not JSON/, /export-1.json: digest-mismatch/, /export-2.json: \/runId/,
    /export-3.json: \/createdAt is before/, /export-4.json: \/protocol/, /export-5.json: .*github-token/,
    /import-run-twice: duplicate-run/, /nothing: No such file/]) assert.match(stderr, said);
  const old = await importing(service.store, [files[4]], '--any-protocol');
  assert.equal(old.code, 0, old.stderr);
  await auditClean(service.store, 2);
  assert.equal((await command(['import', service.store, files[6]])).code, 64, '--by is needed');
  assert.equal((await command(['import', '--by', ' \n', service.store, files[6]])).code, 64);
  assert.equal((await importing(path.join(folder, 'nowhere.git'), [files[6]])).code, 3);
});

test('into a work tree and a plain folder, index and ledger with it', async (t) => {
  const folder = temporary(t);
  const tree = path.join(folder, 'tree');
  mkdirSync(path.join(tree, 'runs'), { recursive: true });
  const files = exported(folder, Array.from({ length: 7 }, (_, i) =>
    (i === 3 ? flaggedRun : makeRun)({ id: `import-run-000${i}`, seed: i + 1, createdAt: `2026-0${9 - i}-01T00:00:00.000Z` })));
  const first = await importing(tree, files.slice(0, 4));
  assert.equal(first.code, 0, first.stderr);
  await auditClean(tree, 4);
  git(folder, 'init', '-q', tree);
  git(tree, 'add', '-A');
  git(tree, 'commit', '-qm', 'begin');
  const second = await importing(tree, files);
  assert.equal(second.code, 0, second.stderr);
  assert.match(second.stdout, /added 3 \(0 quarantined\), known 4, refused 0\n$/);
  git(tree, 'add', '-A');
  git(tree, 'commit', '-qm', 'more');
  assert.equal((await auditClean(tree, 7)).commits, 2);
  const [day] = readdirSync(path.join(tree, 'ledger'));
  assert.deepEqual(lines(readFileSync(path.join(tree, 'ledger', day), 'utf8')).map(({ seq, by }) => [seq, by]),
    Array.from({ length: 7 }, (_, i) => [i + 1, 'ada']));
  const summary = JSON.parse(readFileSync(path.join(tree, 'index/summary.json')));
  assert.deepEqual(summary.map((entry) => entry.runId), Array.from({ length: 7 }, (_, i) => `import-run-000${i}`), 'order of acceptance');
  assert.ok(!existsSync(path.join(tree, 'index/summary.json.new')));
});

test('a folder gives the same bytes as a repository, and more than a batch', async (t) => {
  const folder = temporary(t);
  const service = await startService(t);
  await service.stop();
  const tree = path.join(folder, 'tree');
  mkdirSync(path.join(tree, 'runs'), { recursive: true });
  const files = exported(folder, Array.from({ length: 600 }, (_, i) => makeRun({ id: `import-run-${String(i).padStart(4, '0')}`,
    seed: i + 1, cells: ['embed-single'] })));
  for (const dataset of [service.store, tree]) {
    const { code, stdout, stderr } = await importing(dataset, files);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /added 600 /);
    await auditClean(dataset, 600);
  }
  for (const name of service.files().filter((at) => at.startsWith('index/') || at.startsWith('runs/')))
    assert.deepEqual(readFileSync(path.join(tree, name)), Buffer.from(service.file(name)), name);
  assert.equal(Number(service.git('rev-list', '--count', 'HEAD')), 1 + 3, 'commits of 256 runs');
});
