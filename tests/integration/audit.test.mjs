// audit: whatever is wrong with a dataset is said, with its path, and nothing is written.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync }
  from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { makeArchive } from '../support/archive.mjs';
import { audit, auditClean } from '../support/audit.mjs';
import { corpusFiles } from '../support/corpus.mjs';
import { canonical, makeRun, seal, sha256 } from '../support/run.mjs';
import { command } from '../support/service.mjs';

const RUNS = 120;
let folder, bare;

before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'benchledger-audit-'));
  bare = path.join(folder, 'archive.git');
  await makeArchive(bare, RUNS, { chunks: 24, entryBytes: 12_000, summaryLimit: Infinity });
});
after(() => rmSync(folder, { recursive: true, force: true }));

const git = (at, ...args) => execFileSync('git', ['-C', at, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** A folder of its own with the archive's files, without its commits. */
function copy(t, { commits = false } = {}) {
  const at = mkdtempSync(path.join(tmpdir(), 'benchledger-audit-copy-'));
  t.after(() => rmSync(at, { recursive: true, force: true }));
  git(folder, 'clone', '-q', bare, at);
  if (!commits) rmSync(path.join(at, '.git'), { recursive: true });
  return {
    at,
    read: (name) => readFileSync(path.join(at, name), 'utf8'),
    write: (name, text) => {
      mkdirSync(path.dirname(path.join(at, name)), { recursive: true });
      writeFileSync(path.join(at, name), text);
    },
    files: (...folders) => execFileSync('find', [...folders, '-type', 'f'], { cwd: at, encoding: 'utf8' }).trim().split('\n').sort(),
    has: (name) => existsSync(path.join(at, name)),
  };
}

/** Content of every file, to see that nothing was written. */
const state = (dataset) => sha256(dataset.files('.').map((name) => `${name} ${sha256(readFileSync(path.join(dataset.at, name)))}`).join('\n'));

/** Damages a copy, audits it and compares [code, path] of what differs; nothing may be written. */
async function damaged(t, damage, wanted, options) {
  const dataset = copy(t, options);
  const expected = await damage(dataset) ?? wanted;
  const whole = state(dataset);
  const { code, found } = await audit(dataset.at);
  const differences = found.filter(({ note }) => !note);
  assert.deepEqual(differences.map((one) => [one.code, one.path]), expected, JSON.stringify(differences, null, 1));
  assert.equal(code, 1);
  assert.equal(state(dataset), whole, 'nothing is written');
  return { dataset, differences };
}

const quarantined = (dataset) => dataset.files('quarantine')[0];
const someRun = (dataset, n = 7) => dataset.files('runs')[n];
const edit = (dataset, name, change) => {
  const run = JSON.parse(dataset.read(name));
  change(run);
  dataset.write(name, JSON.stringify(run));
};

test('a sound archive has no differences: bare, work tree, plain folder', async (t) => {
  const counts = await auditClean(bare, RUNS);
  assert.ok(counts.segments > 1, 'more than one segment');
  assert.equal(counts.ledgerLines, RUNS);
  assert.equal(counts.commits, 2);
  assert.equal((await auditClean(copy(t, { commits: true }).at, RUNS)).commits, 2);
  assert.equal((await auditClean(copy(t).at, RUNS)).commits, 0);
  assert.equal((await command(['index', '--dry-run', bare])).stdout.includes('unchanged'), true);
});

test('the real files verify, and what an archive lacks is a note', async () => {
  const { code, found, counts } = await audit(path.dirname(path.dirname(path.dirname(path.dirname(corpusFiles()[0])))));
  assert.equal(code, 0);
  assert.deepEqual(found.map((one) => [one.code, one.note]), [['index-missing', true], ['ledger-missing', true]]);
  assert.equal(counts.files, corpusFiles().length);
});

test('a truncated file and one that is not JSON', (t) => damaged(t, (dataset) => {
  const name = someRun(dataset);
  dataset.write(name, dataset.read(name).slice(0, -100));
  return [['not-json', name]];
}));

test('an empty file', (t) => damaged(t, (dataset) => {
  const name = someRun(dataset);
  dataset.write(name, '');
  return [['not-json', name]];
}));

test('a file that is no run file any more', (t) => damaged(t, (dataset) => {
  const name = someRun(dataset);
  edit(dataset, name, (run) => delete run.cells);
  return [['shape', name]];
}));

test('a changed figure: the digest, and with a new digest the ledger', async (t) => {
  await damaged(t, (dataset) => {
    const name = someRun(dataset);
    edit(dataset, name, (run) => { run.cells[0].iterations[0].chunks[3].t += 0.5; });
    return [['digest', name], ['ledger-digest', name]];
  });
  await damaged(t, (dataset) => {
    const name = someRun(dataset);
    edit(dataset, name, (run) => { run.cells[0].load.endT = 0; });
    return [['digest', name], ['verdict', name], ['ledger-digest', name], ['entry', name]];
  });
  await damaged(t, (dataset) => {
    const name = someRun(dataset);
    dataset.write(name, JSON.stringify(seal({ ...JSON.parse(dataset.read(name)), suite: 'thorough' }, undefined)));
    return [['ledger-digest', name], ['entry', name]];
  });
});

test('a run in the wrong folder, under a wrong name, in a wrong month', async (t) => {
  await damaged(t, (dataset) => {
    const from = quarantined(dataset), to = from.replace('quarantine', 'runs');
    mkdirSync(path.dirname(path.join(dataset.at, to)), { recursive: true });
    renameSync(path.join(dataset.at, from), path.join(dataset.at, to));
    return [['folder', to], ['entry', to]];
  });
  await damaged(t, (dataset) => {
    const from = someRun(dataset), to = from.replace(/2026.\d\d/, '2026/12');
    mkdirSync(path.dirname(path.join(dataset.at, to)), { recursive: true });
    renameSync(path.join(dataset.at, from), path.join(dataset.at, to));
    return [['path', to], ['folder', to], ['entry', to]];
  });
});

test('one run id in two months', (t) => damaged(t, (dataset) => {
  const name = someRun(dataset), run = JSON.parse(dataset.read(name));
  const twin = `runs/2026/12/${run.runId}.json`;
  dataset.write(twin, JSON.stringify(seal({ ...run, createdAt: '2026-12-01T00:00:00.000Z' }, undefined)));
  return [['duplicate-run', twin]];
}));

test('what publication removes, and bytes that JSON.stringify would not print', async (t) => {
  await damaged(t, (dataset) => {
    const name = someRun(dataset), run = JSON.parse(dataset.read(name));
    run.environment.languages = ['de'];
    dataset.write(name, JSON.stringify(seal(run, undefined)));
    return [['scrub', name], ['ledger-digest', name]];
  });
  await damaged(t, (dataset) => {
    const name = someRun(dataset);
    dataset.write(name, `${dataset.read(name)}\n`);
    return [['form', name]];
  });
});

test('an entry without a file, a file without an entry', async (t) => {
  await damaged(t, (dataset) => {
    const name = someRun(dataset);
    unlinkSync(path.join(dataset.at, name));
    return [['entry-without-file', name], ['line-without-file', name]];
  });
  await damaged(t, (dataset) => {
    const run = seal(makeRun({ id: 'stowaway-run-1', createdAt: '2026-03-01T00:00:00.000Z' }), undefined);
    dataset.write('runs/2026/03/stowaway-run-1.json', JSON.stringify(run));
    return [['file-without-entry', 'runs/2026/03/stowaway-run-1.json']];
  });
});

/** Applies CHANGE to the lines of a day file in the middle. */
function editLedger(dataset, change) {
  const name = dataset.files('ledger')[20];
  const lines = dataset.read(name).trimEnd().split('\n');
  dataset.write(name, `${change(lines).join('\n')}\n`);
  return name;
}

test('a ledger line that was changed, is missing, was swapped, cut off or put in', async (t) => {
  const days = (dataset) => dataset.files('ledger');
  await damaged(t, (dataset) => {
    const name = days(dataset)[20], next = days(dataset)[21];
    dataset.write(name, dataset.read(name).replace(/"at":"([^"]{22})./, '"at":"$15'));
    return [['ledger-chain', next]];
  });
  await damaged(t, (dataset) => {
    const [name, next] = days(dataset).slice(20, 22);
    const run = JSON.parse(dataset.read(name).split('\n')[0]);
    unlinkSync(path.join(dataset.at, name));
    return [['ledger-chain', next], ['ledger-chain', next], ['file-without-line', run.path]];
  });
  await damaged(t, (dataset) => {
    const [name, next] = days(dataset).slice(20, 22), a = dataset.read(name), b = dataset.read(next);
    dataset.write(name, b);
    dataset.write(next, a);
    const after = days(dataset)[22];
    return [['ledger-chain', name], ['ledger-chain', name], ['ledger-line', name], ['ledger-chain', next],
      ['ledger-chain', next], ['ledger-chain', after], ['ledger-chain', after]];
  });
  await damaged(t, (dataset) => {
    const name = days(dataset).at(-1);
    const line = JSON.parse(dataset.read(name).trimEnd().split('\n').at(-1));
    dataset.write(name, dataset.read(name).slice(0, -40));
    return [['ledger-line', name], ['ledger-line', name], ['file-without-line', line.path]];
  });
  await damaged(t, (dataset) => {
    const name = editLedger(dataset, (lines) => [...lines, lines[0]]);
    const next = days(dataset)[21];
    return [['ledger-chain', name], ['ledger-chain', name], ['ledger-event', name]];
  });
});

test('the last ledger line taken away is seen by the run that it accepted', (t) => damaged(t, (dataset) => {
  const name = dataset.files('ledger').at(-1);
  const lines = dataset.read(name).trimEnd().split('\n'), gone = JSON.parse(lines.pop());
  if (lines.length) dataset.write(name, `${lines.join('\n')}\n`);
  else unlinkSync(path.join(dataset.at, name));
  return [['file-without-line', gone.path]];
}));

test('another verdict than the accept line says', async (t) => {
  const dataset = copy(t);
  const [first] = dataset.files('ledger');
  dataset.write(first, dataset.read(first).replace('"flags":[]', '"flags":["timer-grid"]'));
  const { found } = await audit(dataset.at);
  assert.deepEqual(found.filter(({ code }) => code === 'verdict').map(({ note }) => note), [false]);
  /* Without any ledger, a folder that the rules do not give is a note. */
  rmSync(path.join(dataset.at, 'ledger'), { recursive: true });
  const name = someRun(dataset), moved = name.replace('runs', 'quarantine');
  mkdirSync(path.dirname(path.join(dataset.at, moved)), { recursive: true });
  renameSync(path.join(dataset.at, name), path.join(dataset.at, moved));
  await command(['index', dataset.at]);
  const alone = await audit(dataset.at);
  assert.equal(alone.code, 0, JSON.stringify(alone.found));
  assert.deepEqual(alone.found.map((one) => [one.code, one.note, one.path]), [['ledger-missing', true, 'ledger'], ['verdict', true, moved]]);
});

test('segments, manifest and summary that do not agree', async (t) => {
  const segment = 'index/segments/00002.json', manifest = 'index/manifest.json', summary = 'index/summary.json';
  await damaged(t, (dataset) => {
    const entries = JSON.parse(dataset.read(segment));
    const path = entries[1].path;
    entries[1].cores += 1;
    dataset.write(segment, JSON.stringify(entries));
    return [[ 'segment', segment], ['summary', summary], ['entry', path]];
  });
  await damaged(t, (dataset) => {
    const entries = JSON.parse(dataset.read(segment));
    const [gone] = entries.splice(2, 1);
    dataset.write(segment, JSON.stringify(entries));
    return [['manifest', manifest], ['segment', segment], ['summary', summary], ['file-without-entry', gone.path]];
  });
  await damaged(t, (dataset) => {
    const gone = JSON.parse(dataset.read(segment)).map((entry) => entry.path).sort();
    unlinkSync(path.join(dataset.at, segment));
    assert.ok(gone.some((name) => name.startsWith('quarantine')), 'so that three counts are wrong');
    return [['segment', manifest], ...Array(3).fill(['manifest', manifest]), ['summary', summary],
      ...gone.map((name) => ['file-without-entry', name])];
  });
  await damaged(t, (dataset) => {
    const entries = JSON.parse(dataset.read(summary));
    dataset.write(summary, JSON.stringify(entries.slice(0, -1)));
    return [['manifest', manifest], ['summary', summary]];
  });
  await damaged(t, (dataset) => {
    dataset.write(summary, dataset.read(summary).replace('"cores":8', '"cores":9'));
    return [['summary', summary]];
  });
  await damaged(t, (dataset) => {
    dataset.write(manifest, dataset.read(manifest).replace(`"entries":${RUNS},`, `"entries":${RUNS + 1},`));
    return [['manifest', manifest]];
  });
  const other = [(text) => text.replace('"version":1', '"version":7'), (text) => JSON.stringify(JSON.parse(text), null, 1),
    (text) => text.replace('"segments":[', `"segments":[${JSON.stringify(JSON.parse(text).segments[0])},`),
    (text) => JSON.stringify({ ...JSON.parse(text), segments: JSON.parse(text).segments.reverse() }),
    (text) => text.replace('"summaryComplete":true', '"summaryComplete":"yes"')];
  for (const change of other)
    await damaged(t, (dataset) => {
      dataset.write(manifest, change(dataset.read(manifest)));
      return [['manifest', manifest]];
    });
  await damaged(t, (dataset) => {
    dataset.write(manifest, dataset.read(manifest).slice(0, -3));
    return [['manifest', manifest], ['manifest', manifest]];
  });
  await damaged(t, (dataset) => {
    const entries = JSON.parse(dataset.read(segment));
    dataset.write(segment, JSON.stringify([...entries, entries[0]]));
    return [['manifest', manifest], ['duplicate-entry', segment], ['segment', segment], ['summary', summary]];
  });
});

test('a leaderboard that its entries do not give', async (t) => {
  const dataset = copy(t), name = 'index/leaderboard.json';
  assert.equal((await command(['index', dataset.at])).code, 0);
  await auditClean(dataset.at, RUNS);
  const board = JSON.parse(dataset.read(name));
  const changed = (change) => { const next = structuredClone(board); change(next); dataset.write(name, JSON.stringify(next)); };
  for (const [text, change] of [[/entries give another$/, (next) => { next.rows[0].loadColdMs += 1; }],
    [/entries give another$/, (next) => { next.entries -= 1; }],
    [/entries give another$/, (next) => { Object.assign(next, { entries: 0 }); }], [/does not say/, (next) => { delete next.protocols; }]]) {
    changed(change);
    const { code, found } = await audit(dataset.at);
    assert.equal(code, 1);
    assert.deepEqual(found.map((one) => [one.code, one.path]), [['leaderboard', name]]);
    assert.match(found[0].text, text);
  }
  changed((next) => { Object.assign(next, { entries: 0, runs: 0, rows: [] }); });
  assert.deepEqual((await audit(dataset.at)).found.map((one) => [one.code, one.note, one.text]),
    [['leaderboard', true, `is of no entries, and there are ${RUNS}`]], 'as one of an empty dataset that was not refreshed since');
  changed((next) => { next.entries += 1; });
  assert.deepEqual((await audit(dataset.at)).found.map((one) => [one.code, one.note]), [['leaderboard', false]]);
  dataset.write('archives.json', JSON.stringify({ version: 1, archives: [{ url: 'x', ledgerSha256: sha256('x') }] }));
  assert.deepEqual((await audit(dataset.at)).found.map((one) => [one.code, one.note]), [['leaderboard', true]]);
  dataset.write(name, '{');
  assert.deepEqual((await audit(dataset.at)).found.map((one) => one.text), ['is not JSON']);
});

test('a damaged index is not overwritten by `index`', async (t) => {
  const dataset = copy(t);
  const name = someRun(dataset);
  dataset.write(name, dataset.read(name).slice(0, 300));
  dataset.write('index/manifest.json', '{');
  const whole = state(dataset);
  const { code, stderr } = await command(['index', dataset.at]);
  assert.equal(code, 2);
  assert.ok(stderr.includes(name), stderr);
  assert.equal(state(dataset), whole);
});

test('commits that change, bring or take files without a line', async (t) => {
  const dataset = copy(t, { commits: true });
  const commit = (what) => { git(dataset.at, 'add', '-A'); git(dataset.at, 'commit', '-qm', what); };
  const name = someRun(dataset), old = dataset.read(name);
  edit(dataset, name, (run) => { run.suite = 'thorough'; });
  commit('change a file');
  dataset.write(name, old);
  commit('and change it back');
  const { code, found } = await audit(dataset.at);
  assert.equal(code, 1);
  assert.deepEqual(found.map((one) => [one.code, one.path]), [['history', name], ['history', name]]);

  const [day] = dataset.files('ledger'), lines = dataset.read(day);
  dataset.write(day, lines.replace('"flags":[]', '"flags":["x"]'));
  commit('rewrite a line');
  dataset.write(day, lines);
  commit('and write it back');
  const again = await audit(dataset.at);
  assert.deepEqual(again.found.slice(0, 1).map((one) => [one.code, one.path]), [['history', day]]);

  dataset.write('runs/2026/12/untracked-run.json', '{}');
  dataset.write(day, `${lines}x`);
  const dirty = await audit(dataset.at);
  assert.deepEqual(dirty.found.filter(({ code: what }) => what === 'uncommitted').map((one) => one.path).sort(),
    [day, 'runs/2026/12/untracked-run.json']);
});

test('a ledger that was taken away in a commit, a commit that is lost, a shallow clone', async (t) => {
  const dataset = copy(t, { commits: true });
  git(dataset.at, 'rm', '-rq', 'ledger');
  git(dataset.at, 'commit', '-qm', 'forget');
  const { code, found } = await audit(dataset.at);
  assert.equal(code, 1);
  const gone = found.filter((one) => one.code === 'history' && !one.note).map((one) => one.path);
  assert.ok(gone.length > 20 && gone.every((name) => name.startsWith('ledger/')), JSON.stringify(gone));
  assert.deepEqual(found.filter((one) => one.note).map((one) => one.code), ['ledger-missing'], 'and no run is accused of it');
  git(dataset.at, 'checkout', '-q', 'HEAD~1');
  await auditClean(dataset.at, RUNS); // detached

  const shallow = mkdtempSync(path.join(tmpdir(), 'benchledger-audit-shallow-'));
  t.after(() => rmSync(shallow, { recursive: true, force: true }));
  git(folder, 'clone', '-q', '--bare', '--depth', '1', `file://${bare}`, shallow);
  const cut = await audit(shallow);
  assert.equal(cut.code, 0, JSON.stringify(cut.found));
  assert.deepEqual(cut.found.map((one) => [one.code, one.note]), [['history', true]]);
  rmSync(path.join(shallow, 'shallow'));
  const lost = await audit(shallow);
  assert.equal(lost.code, 1);
  assert.deepEqual(lost.found.map((one) => [one.code, one.note]), [['history', false]]);
});

test('a history that was merged away, folders that are none, files that are links', async (t) => {
  const dataset = copy(t, { commits: true });
  const commitTree = (tree, ...parents) => git(dataset.at, 'commit-tree', tree, '-m', 'x', ...parents.flatMap((one) => ['-p', one]));
  const old = git(dataset.at, 'rev-parse', 'HEAD');
  const reset = (to) => git(dataset.at, 'reset', '-q', '--hard', to);
  /* Everything of the last run goes, ledger and index with it, and the old history is merged into that. */
  const day = dataset.files('ledger').at(-1), lines = dataset.read(day).trimEnd().split('\n'), gone = JSON.parse(lines.pop());
  unlinkSync(path.join(dataset.at, gone.path));
  if (lines.length) dataset.write(day, `${lines.join('\n')}\n`);
  else unlinkSync(path.join(dataset.at, day));
  assert.equal((await command(['index', '--allow-shrink', dataset.at])).code, 0);
  git(dataset.at, 'add', '-A');
  const tree = git(dataset.at, 'write-tree');
  reset(commitTree(tree, commitTree(tree), old));
  const merged = await audit(dataset.at);
  assert.equal(merged.code, 1);
  assert.deepEqual(merged.found.map((one) => [one.code, one.path]), [['history', day], ['history', gone.path]]);
  /* A branch that took nothing away. */
  reset(old);
  dataset.write('NOTES.md', 'words');
  git(dataset.at, 'add', '-A');
  git(dataset.at, 'commit', '-qm', 'words');
  reset(commitTree(git(dataset.at, 'rev-parse', 'HEAD^{tree}'), old, git(dataset.at, 'rev-parse', 'HEAD')));
  await auditClean(dataset.at, RUNS);

  reset(old);
  dataset.write('withdrawn', 'no folder');
  git(dataset.at, 'add', '-A');
  git(dataset.at, 'commit', '-qm', 'a file');
  git(dataset.at, 'rm', '-q', 'withdrawn');
  git(dataset.at, 'commit', '-qm', 'and none');
  const name = someRun(dataset);
  const blob = git(dataset.at, 'rev-parse', `HEAD:${name}`);
  git(dataset.at, 'update-index', '--cacheinfo', `120000,${blob},${name}`);
  git(dataset.at, 'commit', '-qm', 'a link');
  const tip = path.join(mkdtempSync(path.join(tmpdir(), 'benchledger-audit-link-')), 'bare.git');
  t.after(() => rmSync(path.dirname(tip), { recursive: true, force: true }));
  git(folder, 'clone', '-q', '--bare', dataset.at, tip);
  const odd = await audit(tip);
  assert.deepEqual(odd.found.map((one) => [one.code, one.path, one.note]), [['entry-without-file', name, false],
    ['line-without-file', name, false], ['history', name, false], ['history', 'withdrawn', false]]);
});

test('a folder that names two things alike, of which readers find either', async (t) => {
  const at = path.join(mkdtempSync(path.join(tmpdir(), 'benchledger-audit-twice-')), 'bare.git');
  t.after(() => rmSync(path.dirname(at), { recursive: true, force: true }));
  git(folder, 'clone', '-q', '--bare', bare, at);
  const make = (lines) => execFileSync('git', ['-C', at, 'mktree'], { input: `${lines}\n`, encoding: 'utf8' }).trim();
  const listed = (what) => git(at, 'ls-tree', what);
  const deep = git(at, 'ls-tree', '-r', '--name-only', 'HEAD', 'runs').split('\n').at(-1);
  const month = path.dirname(deep), year = path.dirname(month);
  const doubled = [listed(`HEAD:${month}`), listed(`HEAD:${month}`).split('\n').at(-1)].join('\n');
  const runs = make(listed('HEAD:runs').replace(/[0-9a-f]{40}(?=\t2\d{3}$)/gm, () => make(listed(`HEAD:${year}`)
    .replace(git(at, 'rev-parse', `HEAD:${month}`), make(doubled)))));
  const root = `${listed('HEAD^{tree}').replace(git(at, 'rev-parse', 'HEAD:runs'), runs)}\n${listed('HEAD^{tree}').match(/.*\tledger$/m)[0]
    .replace(/tree [0-9a-f]{40}/, `blob ${git(at, 'rev-parse', `HEAD:${deep}`)}`).replace('040000', '100644')}`;
  git(at, 'update-ref', 'HEAD', git(at, 'commit-tree', make(root), '-p', 'HEAD', '-m', 'x'));
  const { code, found } = await audit(at);
  assert.equal(code, 1);
  assert.deepEqual(found.filter((one) => one.code === 'duplicate-name').map(({ path: name }) => name), ['ledger', deep]);
});

test('folders beside the dataset are not walked through, and those of the dataset have an end', async (t) => {
  const at = path.join(mkdtempSync(path.join(tmpdir(), 'benchledger-audit-bomb-')), 'bare.git');
  t.after(() => rmSync(path.dirname(at), { recursive: true, force: true }));
  git(folder, 'clone', '-q', '--bare', bare, at);
  const make = (lines) => execFileSync('git', ['-C', at, 'mktree', '--missing'], { input: `${lines}\n`, encoding: 'utf8' }).trim();
  const root = git(at, 'ls-tree', 'HEAD^{tree}');
  const commit = (tree) => git(at, 'update-ref', 'HEAD', git(at, 'commit-tree', tree, '-m', 'x'));
  let bomb = make(`100644 blob ${git(at, 'rev-parse', 'HEAD:README.md')}\tx`); // 10^10 files, were one to look at each
  for (let level = 0; level < 10; level++) bomb = make(Array.from({ length: 10 }, (_, i) => `040000 tree ${bomb}\t${i}`).join('\n'));
  const missing = `040000 tree ${'12'.repeat(20)}\tmissing`;
  commit(make(`${root}\n040000 tree ${bomb}\tdocs\n${missing}`));
  assert.deepEqual((await audit(at, '--no-history')).found, []);
  commit(make(root.replace(/(?<=tree )[0-9a-f]{40}(?=\twithdrawn$)|$(?![^])/m, (id) => id && bomb) + (/\twithdrawn$/m.test(root) ? '' : `\n040000 tree ${bomb}\twithdrawn`)));
  const { code, stderr } = await command(['audit', '--no-history', at]);
  assert.equal(code, 3);
  assert.match(stderr, /too many folders/);
});

test('what a killed writer left among the run files is noted; a file that no line knows may have been changed', async (t) => {
  const dataset = copy(t, { commits: true });
  const name = someRun(dataset);
  dataset.write(`${name}.new`, '{');
  const { code, found } = await audit(dataset.at);
  assert.equal(code, 0);
  assert.deepEqual(found.map((one) => [one.code, one.path, one.note]), [['stray', `${name}.new`, true], ['uncommitted', `${name}.new`, true]]);

  const older = mkdtempSync(path.join(tmpdir(), 'benchledger-audit-older-'));
  t.after(() => rmSync(older, { recursive: true, force: true }));
  git(older, 'init', '-q');
  mkdirSync(path.join(older, 'runs/2026/01'), { recursive: true });
  for (const suite of ['quick', 'thorough']) {
    writeFileSync(path.join(older, 'runs/2026/01/older-run-1.json'), JSON.stringify(seal(makeRun({ id: 'older-run-1', suite }), undefined)));
    git(older, 'add', '-A');
    git(older, 'commit', '-qm', suite);
  }
  const notes = await audit(older);
  assert.equal(notes.code, 0, JSON.stringify(notes.found));
  assert.ok(notes.found.some((one) => one.code === 'history' && /was changed/.test(one.text)));
});

test('without the answer key only what it decides is excused', async (t) => {
  const dataset = copy(t);
  const [day] = dataset.files('ledger'), [line, ...others] = dataset.read(day).split('\n');
  const claims = async (...flags) => {
    dataset.write(day, [canonical({ ...JSON.parse(line), flags }), ...others].join('\n'));
    const { found } = await audit(dataset.at, '--no-mmlu-key');
    return found.filter((one) => one.code === 'verdict').map((one) => one.note);
  };
  assert.deepEqual(await claims('env-cross-field'), [false]);
  assert.deepEqual(await claims('parse-rate-mismatch'), [true]);
  assert.deepEqual(await claims('quality-details-mismatch'), [false], 'which would have gone to quarantine');
  assert.deepEqual(await claims('quality-outputs-mismatch'), [false], 'which needs no key');
});

test('times that are none, rule sets that are none, excuses that do not hold', async (t) => {
  const line = (dataset, change) => {
    const name = dataset.files('ledger').at(-1);
    const all = dataset.read(name).trimEnd().split('\n'), last = JSON.parse(all.pop());
    change(last);
    dataset.write(name, `${[...all, canonical(last)].join('\n')}\n`);
    return [name, last.path];
  };
  await damaged(t, (dataset) => [['ledger-line', line(dataset, (last) => { last.at = `${last.at.slice(0, 10)} banana`; })[0]]]);
  for (const change of [(last) => { last.rules = 1; last.flags = ['x']; }, (last) => { delete last.rules; last.flags = ['x']; },
    (last) => { last.flags = ['unknown-name']; }, (last) => { last.rules = 3; last.flags = ['unknown-name', 'text-chunk-mismatch']; }])
    await damaged(t, (dataset) => [['verdict', line(dataset, change)[1]]]);
  const dataset = copy(t);
  line(dataset, (last) => { last.rules = 99; last.flags = ['x']; });
  assert.deepEqual((await audit(dataset.at)).found.map((one) => [one.code, one.note]), [['verdict', true]], 'a later version may know it');
});

test('a summary that is cut, gone or empty, an order that is not that of acceptance, archives.json that is none', async (t) => {
  const summary = 'index/summary.json', manifest = 'index/manifest.json';
  await damaged(t, (dataset) => {
    dataset.write(summary, `${dataset.read(summary).slice(0, -1)}x`);
    return [['summary', summary]];
  });
  const none = (dataset) => dataset.write(manifest, dataset.read(manifest).replace('"summaryComplete":true', '"summaryComplete":false')
    .replace(`"summaryEntries":${RUNS}`, '"summaryEntries":0'));
  await damaged(t, (dataset) => {
    none(dataset);
    dataset.write(summary, 'x');
    return [['summary', summary]];
  });
  await damaged(t, (dataset) => {
    dataset.write('archives.json', '{"archives":[{"url":"x"}]}');
    return [['archives', 'archives.json']];
  });
  const dataset = copy(t);
  none(dataset);
  unlinkSync(path.join(dataset.at, summary));
  assert.deepEqual((await audit(dataset.at)).found.map((one) => [one.code, one.note]), [['summary', true]]);
  const other = copy(t), first = 'index/segments/00001.json';
  const entries = JSON.parse(other.read(first)).reverse();
  other.write(first, JSON.stringify(entries));
  const { found } = await audit(other.at);
  assert.ok(found.some((one) => one.note && /order of acceptance/.test(one.text)));
});

test('a name that is no text, and many differences', async (t) => {
  const dataset = copy(t);
  writeFileSync(Buffer.concat([Buffer.from(`${dataset.at}/runs/2026/02/bad`), Buffer.from([0xff]), Buffer.from('.json')]), '{}');
  const day = dataset.files('ledger').at(-1);
  dataset.write(day, `${dataset.read(day)}${'\n'.repeat(12_000)}`);
  const { found, counts } = await audit(dataset.at);
  assert.ok(found.some((one) => one.path === 'runs/2026/02/bad?.json'), 'valid JSON');
  assert.equal(found.filter((one) => one.code === 'ledger-line').length, 10_000);
  assert.equal(counts.differences, 12_001);
  assert.match((await command(['audit', dataset.at])).stdout, /and 2000 more of the same codes/);
});

test('the table, the codes, and what cannot be read', async (t) => {
  const dataset = copy(t);
  const name = someRun(dataset);
  dataset.write(name, '[]');
  dataset.write('ledger/notes.txt', '\u001b[31mred');
  const { code, stdout } = await command(['audit', dataset.at]);
  assert.equal(code, 1);
  assert.match(stdout, new RegExp(`^differs shape +${name}`, 'm'));
  assert.match(stdout, /differences 2, notes 0\n$/);
  assert.ok(!stdout.includes('\u001b'));
  const codes = await command(['audit', '--codes']);
  assert.match(codes.stdout, /^ledger-chain +\S/m);
  assert.equal((await command(['audit', path.join(folder, 'nothing')])).code, 3);
  assert.equal((await command(['audit'])).code, 64);
});
