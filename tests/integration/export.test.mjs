// export: a dataset as tables, against an independent writer, and read by another program.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkBytes } from '../bench/baseline.mjs';
import { run as runBinary } from '../support/checker.mjs';
import { corpusFiles, NO_CORPUS } from '../support/corpus.mjs';
import { exportsOf, fillColumns, TABLES } from '../support/exports.mjs';
import { mutatedFile } from '../support/mutate.mjs';
import { Random } from '../support/prng.mjs';
import { makeRun, seal } from '../support/run.mjs';

const LOADER = fileURLToPath(new URL('../support/load_exports.py', import.meta.url));
const NAMES = ['cells.csv', 'datapackage.json', 'iterations.csv', 'leaderboard.csv', 'runs.csv', 'texts.jsonl',
  'validation.txt'];

const temporary = (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-export-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
const exported = (dataset, folder, ...options) => {
  const { status, stderr } = runBinary(['export', ...options, dataset, folder]);
  return { status, stderr, read: (name) => readFileSync(path.join(folder, name), 'utf8') };
};
const put = (dataset, name, content) => {
  const bytes = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
  mkdirSync(path.dirname(path.join(dataset, name)), { recursive: true });
  writeFileSync(path.join(dataset, name), bytes);
  return { path: name, bytes };
};

/** Compares line by line: a table is too long to be shown. */
function sameText(found, expected, what) {
  const lines = [found.split('\n'), expected.split('\n')];
  for (let i = 0; i < Math.max(lines[0].length, lines[1].length); i++)
    assert.equal(lines[0][i], lines[1][i], `${what}, line ${i + 1}`);
}

function sameExports(result, files) {
  for (const [name, text] of Object.entries(exportsOf(files)))
    sameText(result.read(name), Buffer.from(text).toString(), name);
}

/** Else the comparison says nothing about the column. */
function everyColumnIsFilled(text, table) {
  const [header, ...lines] = text.replace(/"(?:[^"]|"")*"/g, 'quoted').split('\n').map((line) => line.split(','));
  const empty = header.filter((column, i) => !column.startsWith('rv_')
    && !lines.some((line) => line[i] !== undefined && line[i] !== '' && line[i] !== '0'));
  assert.deepEqual(empty, [], `always empty in ${table}`);
}

/** Runs that are run files, of every kind that mutation makes. */
function mutatedDataset(dataset, random, count) {
  const files = [];
  while (files.length < count) {
    let run;
    try {
      run = JSON.parse(mutatedFile(random, []).toString());
      if (random.chance(0.8)) fillColumns(random, run);
    } catch {
      continue; // no JSON, or no run any more
    }
    run.runId = `export-run-${String(files.length).padStart(4, '0')}`;
    const { shapeErrors, error } = checkBytes('', Buffer.from(JSON.stringify(run)));
    if (error !== undefined || shapeErrors.length > 0) continue;
    const folder = random.chance(0.2) ? 'quarantine' : 'runs';
    files.push(put(dataset, `${folder}/2026/0${1 + random.below(3)}/${run.runId}.json`, run));
  }
  return files;
}

test('every table is what an independent writer makes of mutated runs', (t) => {
  const folder = temporary(t);
  const dataset = path.join(folder, 'data');
  const files = mutatedDataset(dataset, new Random(6), 150);
  const inRuns = files.filter(({ path: name }) => name.startsWith('runs/'));
  const result = exported(dataset, path.join(folder, 'a', 'out'));
  assert.equal(result.status, 0, result.stderr);
  assert.deepEqual(readdirSync(path.join(folder, 'a', 'out')).sort(), NAMES);
  sameExports(result, inRuns);

  const all = exported(dataset, path.join(folder, 'all'), '--with-quarantine');
  assert.equal(all.status, 0, all.stderr);
  sameExports(all, files);
  for (const table of TABLES) everyColumnIsFilled(all.read(`${table}.csv`), table);
  const typed = spawnSync('/usr/bin/python3', [LOADER, '--types', path.join(folder, 'all')], { encoding: 'utf8' });
  assert.equal(typed.status, 0, typed.stderr);
  assert.equal(all.read('leaderboard.csv'), result.read('leaderboard.csv'), 'the board has no quarantined runs');
});

test('the real run files', { skip: NO_CORPUS }, (t) => {
  const folder = temporary(t);
  const files = corpusFiles();
  const root = path.join(files[0].slice(0, files[0].lastIndexOf('/runs/')));
  const result = exported(root, folder);
  assert.equal(result.status, 0, result.stderr);
  sameExports(result, files.map((file) => ({ path: path.relative(root, file), bytes: readFileSync(file) })));
});

test('a row follows createdAt, then path, then the file', (t) => {
  const folder = temporary(t);
  const dataset = path.join(folder, 'data');
  for (const [month, id, createdAt] of [['01', 'order-run-z', '2026-01-05T00:00:00.000Z'],
    ['01', 'order-run-a', '2026-02-05T00:00:00.000Z'], ['02', 'order-run-b', '2026-01-05T00:00:00.000Z'],
    ['01', 'order-run-c', '2026-01-05T00:00:00.000Z']])
    put(dataset, `runs/2026/${month}/${id}.json`, seal(makeRun({ id, createdAt })));
  const result = exported(dataset, path.join(folder, 'out'));
  assert.deepEqual(result.read('validation.txt').trim().split('\n').map((line) => line.split(' ')[0]),
    ['order-run-c', 'order-run-z', 'order-run-b', 'order-run-a']);
});

test('a file that is no run file is named and left out; all others are exported', (t) => {
  const folder = temporary(t);
  const dataset = path.join(folder, 'data'), out = path.join(folder, 'out');
  const sound = [put(dataset, 'runs/2026/01/sound-run.json', seal(makeRun({ id: 'sound-run' })))];
  put(dataset, 'runs/2026/01/broken.json', '{"protocol":');
  const { cells, ...rest } = makeRun({ id: 'no-cells-run' });
  put(dataset, 'runs/2026/01/no-cells-run.json', { ...rest, harness: { ...rest.harness,
    runtimeVersions: { 'of-no-run': '1' } } });
  put(dataset, 'runs/README.md', 'no run');
  const result = exported(dataset, out);
  assert.equal(result.status, 1);
  assert.match(result.stderr, /^benchledger: runs\/2026\/01\/broken\.json: is not JSON/m);
  assert.match(result.stderr, /^benchledger: runs\/2026\/01\/no-cells-run\.json: \/cells is required$/m);
  sameExports(result, sound);
});

test('an earlier export is replaced whole, or left as it is', (t) => {
  const folder = temporary(t);
  const dataset = path.join(folder, 'data'), out = path.join(folder, 'out');
  const files = [put(dataset, 'runs/2026/01/first-run.json', seal(makeRun({ id: 'first-run' })))];
  assert.equal(exported(dataset, out).status, 0);
  files.push(put(dataset, 'runs/2026/01/second-run.json', seal(makeRun({ id: 'second-run', seed: 2 }))));
  writeFileSync(path.join(out, 'notes.txt'), 'mine');
  const again = exported(dataset, out);
  assert.equal(again.status, 0);
  sameExports(again, files);
  assert.deepEqual(readdirSync(out).sort(), [...NAMES, 'notes.txt'].sort());

  const before = again.read('runs.csv');
  mkdirSync(path.join(dataset, 'index'));
  writeFileSync(path.join(dataset, 'index/manifest.json'), '{');
  const refused = exported(dataset, out);
  assert.equal(refused.status, 3);
  assert.match(refused.stderr, /^benchledger: /);
  assert.equal(refused.read('runs.csv'), before);
  assert.deepEqual(readdirSync(out).sort(), [...NAMES, 'notes.txt'].sort());
});

test('a folder, a work tree and a bare repository give the same files', (t) => {
  const folder = temporary(t);
  const dataset = path.join(folder, 'data'), bare = path.join(folder, 'bare.git');
  for (const seed of [1, 2, 3])
    put(dataset, `runs/2026/01/place-run-${seed}.json`, seal(makeRun({ id: `place-run-${seed}`, seed })));
  const plain = exported(dataset, path.join(folder, 'plain'));
  assert.equal(runBinary(['index', dataset]).status, 0);
  const git = (...args) => execFileSync('git', ['-C', dataset, '-c', 'user.name=t', '-c', 'user.email=t@example.org',
    ...args], { stdio: 'ignore' });
  git('init', '-q');
  git('add', '.');
  git('commit', '-q', '-m', 'all');
  execFileSync('git', ['clone', '-q', '--bare', dataset, bare], { stdio: 'ignore' });
  for (const place of [dataset, bare]) {
    const result = exported(place, path.join(folder, path.basename(place), '..', `out-${path.basename(place)}`));
    assert.equal(result.status, 0, result.stderr);
    for (const name of NAMES) assert.equal(result.read(name), plain.read(name), name);
  }
});

test('leaderboard.csv has the rows that `rows` prints, of the protocols that are asked for', (t) => {
  const folder = temporary(t);
  const dataset = path.join(folder, 'data');
  for (const protocol of [3, 4, 5])
    put(dataset, `runs/2026/01/board-run-${protocol}.json`, seal(makeRun({ id: `board-run-${protocol}`,
      protocol: `localmode-bench/${protocol}` })));
  for (const options of [[], ['--protocols', 'localmode-bench/3'], ['--protocols', 'none']]) {
    const rows = JSON.parse(runBinary(['rows', ...options, dataset]).stdout);
    const lines = exported(dataset, path.join(folder, 'out'), ...options).read('leaderboard.csv').trim().split('\n');
    assert.equal(lines.length, rows.length + 1);
    for (const [i, row] of rows.entries()) assert.ok(lines[i + 1].startsWith(`${row.protocol},${row.deviceClass},`));
  }
});

test('datapackage.json describes every file and column', (t) => {
  const folder = temporary(t);
  const dataset = path.join(folder, 'data'), out = path.join(folder, 'out');
  put(dataset, 'runs/2026/01/package-run.json', seal(makeRun({ id: 'package-run' })));
  const result = exported(dataset, out, '--licence', 'CC-BY-4.0');
  const { name, licenses, resources } = JSON.parse(result.read('datapackage.json'));
  assert.equal(name, 'benchledger-runs');
  assert.deepEqual(licenses, [{ name: 'CC-BY-4.0' }]);
  assert.deepEqual(resources.map(({ path: file }) => file).sort(), NAMES.filter((file) => file !== 'datapackage.json'));
  for (const { path: file, format, mediatype, encoding, dialect, schema } of resources) {
    assert.ok(format && mediatype && encoding === 'utf-8', file);
    if (format === 'txt') continue;
    for (const { name: column, type, description, unit } of schema.fields) {
      assert.match(type, /^(string|number|integer|boolean|datetime|any)$/, column);
      assert.ok(description.length > 2, column);
      if (/Ms$|Bytes$|GB$|PerSec(Approx)?$/.test(column)) assert.ok(unit, column);
    }
    if (format !== 'csv') continue;
    assert.equal(dialect.delimiter, ',');
    assert.equal(schema.fields.map((column) => column.name).join(','), result.read(file).split('\n')[0], file);
  }
});

test('another program reads the tables as described and finds the medians of the board', (t) => {
  const folder = temporary(t);
  const dataset = path.join(folder, 'data'), out = path.join(folder, 'out');
  for (const seed of [1, 2, 3, 4, 5])
    put(dataset, `runs/2026/01/median-run-${seed}.json`, seal(makeRun({ id: `median-run-${seed}`, seed,
      chunkMs: 10 + seed, embedMs: 40 + seed * 3, cells: ['llm', 'llm-burst', 'embed-single', 'embed-batch', 'skipped'] })));
  assert.equal(exported(dataset, out).status, 0);
  const rows = runBinary(['rows', dataset]).stdout;
  const loaded = spawnSync('/usr/bin/python3', [LOADER, out], { input: rows, encoding: 'utf8' });
  assert.equal(loaded.status, 0, loaded.stderr);
  const { compared, tables, texts } = JSON.parse(loaded.stdout);
  assert.deepEqual(Object.keys(tables).sort(), ['cells', 'iterations', 'leaderboard', 'runs']);
  assert.equal(tables.runs, 5);
  assert.ok(texts > 0);
  for (const metric of ['ttftMs', 'decodeCharsPerSec', 'overallCharsPerSec', 'singleLatencyMs'])
    assert.ok(compared[metric] > 0, metric);
});

test('an export that is stopped leaves nothing half-done', async (t) => {
  const folder = temporary(t);
  const dataset = path.join(folder, 'data'), out = path.join(folder, 'out');
  mkdirSync(out);
  for (let i = 0; i < 40; i++)
    put(dataset, `runs/2026/01/stopped-run-${i}.json`, seal(makeRun({ id: `stopped-run-${i}`, seed: i, pad: 1 << 18 })));
  const child = spawn(process.env.BENCHLEDGER_BINARY, ['export', dataset, out], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  while (child.exitCode === null && readdirSync(out).length === 0) await new Promise((wake) => setImmediate(wake));
  child.kill('SIGTERM');
  const [code, signal] = await ended;
  assert.equal(signal, null);
  t.diagnostic(`exit code ${code}`); // 0: it was faster
  assert.ok(code === 0 || code === 3);
  assert.deepEqual(readdirSync(out).sort(), code === 0 ? NAMES : []);
});

test('a run whose rows would fill the disk is named and left out', (t) => {
  const folder = temporary(t);
  const dataset = path.join(folder, 'data');
  const long = makeRun({ id: 'long-run-1', iterations: 100 });
  for (const cell of long.cells) cell.model.providerModelId = 'x'.repeat(1 << 20);
  const fine = put(dataset, 'runs/2026/01/fine-run-1.json', seal(makeRun({ id: 'fine-run-1' })));
  put(dataset, 'runs/2026/01/long-run-1.json', seal(long));
  const result = exported(dataset, path.join(folder, 'out'));
  assert.equal(result.status, 1);
  assert.match(result.stderr, /long-run-1\.json: its rows would take more than 64 MB/);
  sameExports(result, [fine]);
});

test('tables hold no complaints where the standard streams are closed, and a limit on files leaves none behind', (t) => {
  const folder = temporary(t);
  const dataset = path.join(folder, 'data'), out = path.join(folder, 'out');
  const fine = put(dataset, 'runs/2026/01/fine-run-1.json', seal(makeRun({ id: 'fine-run-1', chunks: 200 })));
  put(dataset, 'runs/2026/01/no-run.json', '{}');
  const shell = (text) => spawnSync('sh', ['-c', text, process.env.BENCHLEDGER_BINARY, dataset, out]).status;
  for (const closed of ['2>&-', '<&- 2>&-', '<&- >&- 2>&-']) {
    assert.equal(shell(`"$0" export "$1" "$2" ${closed}`), 1, closed);
    sameExports({ read: (name) => readFileSync(path.join(out, name), 'utf8') }, [fine]);
  }
  rmSync(out, { recursive: true });
  assert.equal(shell('ulimit -f 1; "$0" export "$1" "$2" 2>/dev/null'), 3);
  assert.deepEqual(readdirSync(out), []);
  const among = exported(dataset, path.join(dataset, 'runs/tables'));
  assert.equal(among.status, 3);
  assert.match(among.stderr, /OUTDIR lies in runs\//);
  assert.deepEqual(readdirSync(path.join(dataset, 'runs')), ['2026']);
});

test('a dataset without runs has tables without rows', (t) => {
  const folder = temporary(t);
  mkdirSync(path.join(folder, 'data', 'runs'), { recursive: true });
  const result = exported(path.join(folder, 'data'), path.join(folder, 'out'));
  assert.equal(result.status, 0, result.stderr);
  sameExports(result, []);
});

test('what is no dataset, or cannot be written, is said to be', (t) => {
  const folder = temporary(t);
  const none = exported(folder, path.join(folder, 'out'));
  assert.equal(none.status, 3);
  assert.match(none.stderr, /^benchledger: /);
  const dataset = path.join(folder, 'data'), blocked = path.join(folder, 'blocked');
  put(dataset, 'runs/2026/01/write-run.json', seal(makeRun({ id: 'write-run' })));
  mkdirSync(path.join(blocked, 'validation.txt'), { recursive: true });
  const late = exported(dataset, blocked);
  assert.equal(late.status, 3);
  assert.match(late.stderr, /validation\.txt: it is a folder/);
  assert.deepEqual(readdirSync(blocked), ['validation.txt'], 'nothing was replaced');
  writeFileSync(path.join(folder, 'file'), '');
  assert.equal(exported(dataset, path.join(folder, 'file')).status, 3);
  assert.equal(runBinary(['export', dataset]).status, 64);
  assert.match(runBinary(['export', '--help']).stdout.toString(), /Exit codes:\n {2}0 /);
});
