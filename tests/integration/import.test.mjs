// import: runs that were exported come into a dataset as a submission would, with who did it.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { assertSound, auditClean } from '../support/audit.mjs';
import { flaggedRun, makeRun, seal, stateOf } from '../support/review.mjs';
import { sha256 } from '../support/run.mjs';
import { BINARY, command, startService } from '../support/service.mjs';
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

test('an import into a folder that was killed anywhere is made whole by the same command', async (t) => {
  const folder = temporary(t);
  const files = exported(folder, Array.from({ length: 5 }, (_, i) => {
    const run = (i === 2 ? flaggedRun : makeRun)({ id: `import-run-000${i}`, seed: i + 1 });
    if (i === 3) run.environment.languages = ['de'];
    return run;
  }));
  const make = (name) => { mkdirSync(path.join(folder, name, 'runs'), { recursive: true }); return path.join(folder, name); };
  const whole = make('whole');
  assert.equal((await importing(whole, files)).code, 0);
  const published = readdirSync(whole, { recursive: true }).filter((name) => /^(runs|quarantine).*\.json$/.test(name));
  assert.equal(published.length, 5);
  /* While the first is written, in part or whole; files without lines; all with lines, which one file does not know of
   * yet; files and lines without an index. */
  for (const [name, lost, added] of [['half', ['ledger', 'index'], 5], ['staged', ['ledger', 'index'], 5], ['files', ['ledger', 'index'], 5],
    ['signed', ['index'], 0], ['lines', ['index'], 0]]) {
    const tree = make(name);
    execFileSync('cp', ['-r', `${whole}/.`, tree]);
    for (const one of lost) rmSync(path.join(tree, one), { recursive: true });
    for (const one of published.map((at) => path.join(tree, at))) {
      if (name !== 'lines') writeFileSync(`${one}.import.new`, '');
      if (name === 'half') truncateSync(one, 1000);
      if (name === 'half' || name === 'staged') renameSync(one, `${one}.new`);
    }
    const { code, stdout, stderr } = await importing(tree, files);
    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(`added ${added} \\(${added && 1} quarantined\\), known ${5 - added}, refused 0\n`), name);
    await auditClean(tree, 5);
    assert.deepEqual(readdirSync(tree, { recursive: true }).filter((at) => at.endsWith('.new')), [], name);
    for (const file of ['runs/2026/01/import-run-0003.json', 'quarantine/2026/01/import-run-0002.json'])
      if (name !== 'half' && name !== 'staged')
        assert.deepEqual(readFileSync(path.join(tree, file)), readFileSync(path.join(whole, file)), 'files stay as they are');
  }
});

test('a stop in the middle leaves a dataset that is whole, in a folder, too', async (t) => {
  const folder = temporary(t), tree = path.join(folder, 'tree');
  mkdirSync(path.join(tree, 'runs'), { recursive: true });
  const files = exported(folder, Array.from({ length: 400 }, (_, i) => makeRun({ id: `import-run-${1000 + i}`, seed: i + 1, cells: ['embed-single'] })));
  const child = spawn(BINARY, ['import', '--by', 'ada', tree, ...files], { stdio: ['ignore', 'pipe', 'pipe'] });
  let told = '';
  child.stdout.on('data', (text) => {
    if (!told) child.kill('SIGINT');
    told += text;
  });
  const code = await new Promise((resolve) => { child.on('close', resolve); });
  const [, added] = /^added (\d+) /m.exec(told.split('\n').at(-2));
  assert.ok(code === 3 || Number(added) === 400, told);
  await auditClean(tree, Number(added));
  const again = await importing(tree, files);
  assert.equal(again.code, 0, again.stderr);
  await auditClean(tree, 400);
});

test('two imports into one folder: one works, the other says so', async (t) => {
  const folder = temporary(t), tree = path.join(folder, 'tree');
  mkdirSync(path.join(tree, 'runs'), { recursive: true });
  const files = exported(folder, Array.from({ length: 120 }, (_, i) => makeRun({ id: `import-run-${1000 + i}`, seed: i + 1, cells: ['embed-single'] })));
  const results = await Promise.all([files.slice(0, 60), files.slice(60)].map((part) => importing(tree, part)));
  for (const { code, stderr } of results)
    if (code !== 0) assert.match(stderr, /another import or index works in/);
  assert.ok(results.some(({ code }) => code === 0));
  await auditClean(tree, 60 * results.filter(({ code }) => code === 0).length);
});

test('runs of earlier repositories are known, and a dataset that names them is not changed without them', async (t) => {
  const folder = temporary(t);
  const [old, next] = [await startService(t), await startService(t)];
  const runs = [1, 2, 3].map((n) => makeRun({ id: `import-run-000${n}`, seed: n }));
  for (const run of runs.slice(0, 2)) assert.equal((await old.submit(run)).status, 200);
  for (const service of [old, next]) await service.stop();
  const last = old.files().filter((name) => name.startsWith('ledger/')).at(-1);
  const ledgerSha256 = sha256(old.file(last).toString().trimEnd().split('\n').at(-1));
  const tree = path.join(folder, 'tree');
  git(folder, 'clone', '-q', next.store, tree);
  writeFileSync(path.join(tree, 'archives.json'), JSON.stringify({ version: 1, archives: [{ url: 'x', ledgerSha256 }] }));
  git(tree, 'add', '-A');
  git(tree, 'commit', '-qm', 'go on');
  git(tree, 'push', '-q');
  const files = exported(folder, [...runs, makeRun({ id: 'import-run-0002', seed: 77 })]);
  for (const dataset of [next.store, tree]) {
    const without = await importing(dataset, files);
    assert.equal(without.code, 3, dataset);
    assert.match(without.stderr, /archives.json/);
    const { code, stdout, stderr } = await importing(dataset, files, '--archive', old.store);
    assert.equal(code, 2);
    assert.match(stderr, /import-run-0002: duplicate-run/);
    assert.match(stdout, /added 1 \(0 quarantined\), known 2, refused 1\n$/);
  }
  /* Neither does a service start without them, and one whose old ledger has grown by a redaction does. */
  next.options.config = {};
  const refusedStart = await command(['serve', '--store', next.store, '--listen', '127.0.0.1:0', '--state-dir', path.join(folder, 'state')]);
  assert.equal(refusedStart.code, 1);
  assert.match(refusedStart.stderr, /archives.json/);
  assert.equal((await command(['redact', old.store, 'import-run-0001', '--reason', 'x'])).code, 0);
  next.options.config = { archives: old.store };
  await next.begin();
  assert.equal((await next.json('/api/bench/leaderboard')).body.runs, 2);
});

test('files above the limit of a submission are refused, names from a dataset are shown without their escapes', async (t) => {
  const folder = temporary(t), tree = path.join(folder, 'tree');
  const run = makeRun({ id: 'import-run-odd', seed: 1 });
  const odd = path.join(tree, 'runs/2026/\u001b[31m01');
  mkdirSync(odd, { recursive: true });
  writeFileSync(path.join(odd, 'import-run-odd.json'), JSON.stringify(seal(run, undefined)));
  const files = exported(folder, [run, makeRun({ id: 'import-run-big', seed: 2, pad: 4_300_000 })]);
  const { code, stdout, stderr } = await importing(tree, files);
  assert.equal(code, 2);
  assert.match(stderr, /payload-too-large/);
  assert.ok(!`${stdout}${stderr}`.includes('\u001b'));
  assert.equal((await importing(tree, files.slice(1), '--max-body', '5000000')).code, 0);
});

test('a file that no other command would read afterwards is not taken', async (t) => {
  const folder = temporary(t), tree = path.join(folder, 'tree');
  mkdirSync(path.join(tree, 'runs'), { recursive: true });
  const most = 64 * 1024 * 1024;
  /* What is published is longer by `scrubbedAt` than what is sent with an empty list. */
  const sized = (id, size, languages) => {
    const run = makeRun({ id, seed: 1 });
    if (languages) run.environment.languages = languages;
    run.notes = '';
    run.notes = 'x'.repeat(size - JSON.stringify(seal(run, undefined)).length);
    return run;
  };
  const files = exported(folder, [sized('import-run-most', most), sized('import-run-grows', most, [])]);
  const { code, stdout, stderr } = await importing(tree, files, '--max-body', String(most));
  assert.equal(code, 2, stderr);
  assert.match(stdout, /added 1 .* refused 1\n$/);
  assert.match(stderr, /export-1.json: payload-too-large/);
  await auditClean(tree, 1);
  for (const [limit, wanted] of [[most, 0], [most + 1, 64], ['1e9', 64], ['', 64]])
    assert.equal((await importing(tree, files.slice(0, 1), '--max-body', String(limit))).code, wanted, limit);
  assert.match((await command(['import', '--help'])).stdout, new RegExp(`max-body[^-]* at most ${most}`));
});
