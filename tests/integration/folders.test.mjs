// import and index in folders and work trees: stopped anywhere, two at a time, with links that a clone may bring.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, linkSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync,
  truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { auditClean } from '../support/audit.mjs';
import { makeRun, seal } from '../support/review.mjs';
import { BINARY, command, sleep } from '../support/service.mjs';

function temporary(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-folders-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
const idOf = (i) => `folders-run-${1000 + i}`;
/** Writes runs as a page exports them and gives their names. */
const exported = (folder, count) => Array.from({ length: count }, (_, i) => {
  const name = path.join(folder, `export-${i}.json`);
  writeFileSync(name, JSON.stringify(seal(makeRun({ id: idOf(i), seed: i + 1, cells: ['embed-single'] }), undefined)));
  return name;
});
const begin = (folder, name) => {
  mkdirSync(path.join(folder, name, 'runs'), { recursive: true });
  return path.join(folder, name);
};
const importing = (dataset, files) => command(['import', '--by', 'ada', dataset, ...files]);
const runFile = (i) => `runs/2026/01/${idOf(i)}.json`;
/** Every file below, with its bytes. */
const snapshot = (folder) => readdirSync(folder, { recursive: true }).sort().filter((name) => lstatSync(path.join(folder, name)).isFile())
  .map((name) => [name, readFileSync(path.join(folder, name), 'latin1')]);
const left = (folder) => readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.new'));

test('an import that is killed at any moment is made whole by the same command', async (t) => {
  const folder = temporary(t), files = exported(folder, 40);
  const seen = { files: (tree) => existsSync(path.join(tree, runFile(0))), more: (tree) => existsSync(path.join(tree, runFile(17))),
    last: (tree) => existsSync(path.join(tree, runFile(39))), ledger: (tree) => existsSync(path.join(tree, 'ledger')),
    index: (tree) => existsSync(path.join(tree, 'index/segments')), segment: (tree) => existsSync(path.join(tree, 'index/segments/00001.json')),
    summary: (tree) => existsSync(path.join(tree, 'index/summary.json')) };
  for (const [name, is] of Object.entries(seen)) {
    const tree = begin(folder, name);
    const child = spawn(BINARY, ['import', '--by', 'ada', tree, ...files], { stdio: 'ignore' });
    const closed = new Promise((resolve) => { child.on('close', resolve); });
    for (const end = Date.now() + 60_000; !is(tree) && Date.now() < end;) continue;
    assert.ok(is(tree), name);
    child.kill('SIGKILL');
    await closed;
    const { code, stderr } = await importing(tree, files);
    assert.equal(code, 0, `${name}: ${stderr}`);
    await auditClean(tree, 40);
    assert.deepEqual(left(tree), [], name);
  }
});

test('runs of an older archive stay without a line, whatever is imported beside them', async (t) => {
  const folder = temporary(t), files = exported(folder, 2), tree = begin(folder, 'tree');
  mkdirSync(path.join(tree, path.dirname(runFile(0))), { recursive: true });
  cpSync(files[0], path.join(tree, runFile(0)));
  for (let tries = 0; tries < 2; tries++) {
    const { code, stdout, stderr } = await importing(tree, files.slice(0, 1));
    assert.equal(code, 0, stderr);
    assert.match(stdout, /added 0 \(0 quarantined\), known 1, refused 0\n$/);
    assert.ok(!existsSync(path.join(tree, 'ledger')));
  }
  assert.match((await importing(tree, files)).stdout, /added 1 \(0 quarantined\), known 1, refused 0\n$/);
  assert.match((await importing(tree, files)).stdout, /added 0 \(0 quarantined\), known 2, refused 0\n$/);
  const [day, ...more] = readdirSync(path.join(tree, 'ledger'));
  assert.deepEqual(more, []);
  assert.deepEqual(readFileSync(path.join(tree, 'ledger', day), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line).runId), [idOf(1)]);
});

/** What index files there are, each as it was BEFORE or is AFTER more runs came; a copy of AFTER with some of them. */
const FILES = { segment: 'index/segments/00001.json', summary: 'index/summary.json', manifest: 'index/manifest.json' };
function torn(folder, { before, after }, name, states) {
  const tree = path.join(folder, name.replaceAll(' ', '-'));
  cpSync(after, tree, { recursive: true });
  for (const [file, state] of Object.entries(states)) {
    const at = path.join(tree, FILES[file]);
    if (state === 'gone') rmSync(at);
    if (state === 'old') cpSync(path.join(before, FILES[file]), at);
    if (state === 'staged') {
      renameSync(at, `${at}.new`);
      cpSync(path.join(before, FILES[file]), at);
    }
    if (state === 'cut') truncateSync(at, 100);
  }
  return tree;
}
async function beforeAndAfter(folder, files) {
  const [before, after] = [begin(folder, 'before'), path.join(folder, 'after')];
  assert.equal((await importing(before, files.slice(0, 3))).code, 0);
  cpSync(before, after, { recursive: true });
  assert.equal((await importing(after, files)).code, 0);
  return { before, after };
}

test('an index of which some files are new and some old is made whole', async (t) => {
  const folder = temporary(t), files = exported(folder, 5), trees = await beforeAndAfter(folder, files);
  const made = snapshot(path.join(trees.after, 'index'));
  for (const [name, states] of Object.entries({
    'new segment': { summary: 'staged', manifest: 'staged' }, 'new segment and summary': { manifest: 'old' },
    'old segment': { segment: 'old' }, 'old summary': { summary: 'old' },
    'no manifest yet': { summary: 'gone', manifest: 'gone' }, 'no manifest but a summary': { manifest: 'gone' } }))
    for (const again of [(tree) => importing(tree, files), (tree) => command(['index', tree])]) {
      const tree = torn(folder, trees, name, states);
      const { code, stderr } = await again(tree);
      assert.equal(code, 0, `${name}: ${stderr}`);
      assert.deepEqual(snapshot(path.join(tree, 'index')), made, name);
      await auditClean(tree, 5);
      rmSync(tree, { recursive: true });
    }
});

test('an index that may know more than the files is kept', async (t) => {
  const folder = temporary(t), files = exported(folder, 5), trees = await beforeAndAfter(folder, files);
  for (const [name, states, spoil, said] of [
    ['cut segment', { segment: 'cut' }, () => {}, /cannot be read; --allow-shrink/],
    ['cut summary', { summary: 'cut' }, () => {}, /cannot be read; --allow-shrink/],
    ['cut manifest', { manifest: 'cut' }, () => {}, /cannot be read; --allow-shrink/],
    ['missing segment', { segment: 'gone' }, () => {}, /cannot be read; --allow-shrink/],
    ['cut segment without a manifest', { segment: 'cut', manifest: 'gone' }, () => {}, /cannot be read; --allow-shrink/],
    ['run without a file', { manifest: 'old' }, (tree) => rmSync(path.join(tree, runFile(4))), /1 runs would be dropped/],
    ['new manifest', { segment: 'old', summary: 'old' }, () => {}, /cannot be read; --allow-shrink/], // it is written last
    ['fewer entries than the manifest counts', { segment: 'old', summary: 'old' }, (tree) => rmSync(path.join(tree, runFile(4))), /cannot be read; --allow-shrink/],
    ['segment of nothing', { summary: 'gone' }, (tree) => { writeFileSync(path.join(tree, FILES.segment), '[]'); rmSync(path.join(tree, runFile(4))); },
      /cannot be read; --allow-shrink/],
    ['run that only the summary has', { segment: 'old', manifest: 'old' }, (tree) => rmSync(path.join(tree, runFile(4))), /1 runs would be dropped/]]) {
    const tree = torn(folder, trees, name, states);
    spoil(tree);
    const kept = snapshot(path.join(tree, 'index'));
    const alone = await command(['index', tree]);
    assert.equal(alone.code, 2, `${name}: ${alone.stderr}`);
    assert.match(alone.stderr, said, name);
    const again = await importing(tree, files.slice(0, 4));
    assert.equal(again.code, 3, name);
    assert.match(again.stderr, said, name);
    assert.deepEqual(snapshot(path.join(tree, 'index')), kept, name);
    assert.equal((await command(['index', '--allow-shrink', tree])).code, 0, name);
  }
});

test('other files among the segments are left alone', async (t) => {
  const folder = temporary(t), files = exported(folder, 3), tree = begin(folder, 'tree');
  assert.equal((await importing(tree, files.slice(0, 2))).code, 0);
  for (const name of ['notes.json', '00001 copy.json', '1.json']) writeFileSync(path.join(tree, 'index/segments', name), 'mine');
  assert.match((await command(['index', tree])).stdout, /unchanged/);
  assert.equal((await importing(tree, files)).code, 0);
  assert.equal((await command(['index', tree])).code, 0);
});

test('a run that publication changed is known again, also where its line is gone', async (t) => {
  const folder = temporary(t), [file] = exported(folder, 1), tree = begin(folder, 'tree');
  const run = JSON.parse(readFileSync(file));
  run.environment.languages = ['de', 'en'];
  writeFileSync(file, JSON.stringify(seal(run, undefined)));
  assert.equal((await importing(tree, [file])).code, 0);
  assert.ok(JSON.parse(readFileSync(path.join(tree, runFile(0)))).scrubbedAt);
  for (const name of ['ledger', 'index']) rmSync(path.join(tree, name), { recursive: true });
  assert.match((await importing(tree, [file])).stdout, /added 0 \(0 quarantined\), known 1, refused 0\n$/);
  run.suite = 'thorough';
  writeFileSync(file, JSON.stringify(seal(run, undefined)));
  assert.equal((await importing(tree, [file])).code, 2, 'another run of that id');
});

test('a day of the ledger that is a link is refused before anything is written', async (t) => {
  const folder = temporary(t), files = exported(folder, 2), tree = begin(folder, 'tree');
  assert.equal((await importing(tree, files.slice(0, 1))).code, 0);
  const [day] = readdirSync(path.join(tree, 'ledger')), at = path.join(tree, 'ledger', day);
  renameSync(at, path.join(folder, day));
  symlinkSync(path.join(folder, day), at);
  const { code, stderr } = await importing(tree, files);
  assert.equal(code, 3);
  assert.match(stderr, /is no regular file/);
  assert.ok(lstatSync(at).isSymbolicLink() && !existsSync(path.join(tree, runFile(1))));
});

const free = (tree) => spawnSync('flock', ['-n', tree, 'true']).status === 0;

test('index says so when an import works, and holds the same lock while it works', async (t) => {
  const folder = temporary(t), tree = begin(folder, 'tree'), files = exported(folder, 3);
  assert.equal((await importing(tree, files)).code, 0);
  rmSync(path.join(tree, 'index'), { recursive: true });
  const holder = spawn('flock', [tree, 'sh', '-c', 'echo held; cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => holder.stdin.destroy());
  await new Promise((resolve) => { holder.stdout.once('data', resolve); });
  for (const args of [['index', tree], ['import', '--by', 'ada', tree, ...files]]) {
    const { code, stderr } = await command(args);
    assert.equal(code, 3);
    assert.match(stderr, /another import or index works in/);
  }
  assert.equal((await command(['index', '--dry-run', tree])).code, 0, 'nothing is written, nothing is locked');
  assert.equal((await command(['rows', tree])).code, 0);
  assert.ok(!existsSync(path.join(tree, 'index')));
  holder.stdin.end();
  await new Promise((resolve) => { holder.on('close', resolve); });
  assert.equal((await command(['index', tree])).code, 0);
  await auditClean(tree, 3);

  /* One run under ever more names, until an index is seen at work. */
  const large = begin(folder, 'large'), first = path.join(large, 'runs/large-0.json');
  writeFileSync(first, JSON.stringify(seal(makeRun({ id: 'folders-run-large', chunks: 9000, iterations: 9 }), undefined)));
  let held = false;
  for (let count = 1, wanted = 20; !held && wanted < 3000; wanted *= 2) {
    for (; count < wanted; count++) linkSync(first, path.join(large, `runs/large-${count}.json`));
    const child = spawn(BINARY, ['index', large], { stdio: 'ignore' });
    const closed = new Promise((resolve) => { child.on('close', resolve); });
    while (!held && child.exitCode === null) {
      child.kill('SIGSTOP');
      held = !free(large);
      child.kill('SIGCONT');
      await sleep(1);
    }
    await closed;
    assert.ok(free(large));
  }
  assert.ok(held);
});

test('what a clone brought under the name of a staged file is not followed', async (t) => {
  const folder = temporary(t), tree = begin(folder, 'tree'), files = exported(folder, 2), victim = path.join(folder, 'victim');
  writeFileSync(victim, 'mine');
  const days = [0, 1].map((more) => `ledger/${new Date(Date.now() + more * 864e5).toISOString().slice(0, 10)}.jsonl`);
  const names = [...Object.values(FILES), 'index/leaderboard.json', ...days, runFile(0), `${runFile(1)}.import`];
  for (const name of names) {
    mkdirSync(path.join(tree, path.dirname(name)), { recursive: true });
    symlinkSync(victim, path.join(tree, `${name}.new`));
  }
  const { code, stderr } = await importing(tree, files);
  assert.equal(code, 0, stderr);
  assert.equal(readFileSync(victim, 'utf8'), 'mine');
  for (const name of left(tree)) rmSync(path.join(tree, name)); // of the day that is not today
  await auditClean(tree, 2);
  for (const name of names.filter((at) => existsSync(path.join(tree, at)))) assert.ok(lstatSync(path.join(tree, name)).isFile(), name);
});

test('through a folder that is a link nothing is written', async (t) => {
  const folder = temporary(t), files = exported(folder, 4), whole = begin(folder, 'whole');
  assert.equal((await importing(whole, files.slice(0, 3))).code, 0);
  rmSync(path.join(whole, FILES.manifest)); // so that there is something to write
  for (const name of ['runs', 'runs/2026', 'runs/2026/01', 'quarantine', 'ledger', 'index', 'index/segments'])
    for (const dangling of [false, true]) {
      const tree = path.join(folder, 'tree'), elsewhere = path.join(folder, 'elsewhere'), at = path.join(tree, name);
      cpSync(whole, tree, { recursive: true });
      if (dangling) rmSync(at, { recursive: true, force: true });
      else if (existsSync(at)) renameSync(at, elsewhere);
      else mkdirSync(elsewhere);
      symlinkSync(elsewhere, at);
      const kept = dangling ? undefined : snapshot(elsewhere);
      const commands = { import: [['import', '--by', 'ada', tree, ...files]] };
      if (name.startsWith('index')) commands.index = [['index', tree]];
      for (const [args] of Object.values(commands)) {
        const { code, stderr } = await command(args);
        assert.equal(code, 3, `${args[0]} ${name} ${stderr}`);
        assert.match(stderr, /is no folder, or a link to one/, name);
        assert.ok(stderr.includes(`${tree}/${name}`), stderr);
      }
      if (dangling) assert.ok(!existsSync(elsewhere), name);
      else assert.deepEqual(snapshot(elsewhere), kept, name);
      assert.ok(!existsSync(path.join(tree, runFile(3))), name);
      for (const one of [tree, elsewhere]) rmSync(one, { recursive: true, force: true });
    }
});
