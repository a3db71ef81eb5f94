// `index` and `rows` over datasets of mutated runs, against the baseline to the byte.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { boardRows, rebuiltIndex } from '../bench/baseline.mjs';
import { Folder, run } from '../support/checker.mjs';
import { writeDataset } from '../support/datasets.mjs';
import { parting } from '../support/differential.mjs';
import { Random } from '../support/prng.mjs';

const folder = new Folder();
after(() => folder.close());
let datasets = 0;

function emptyDataset() {
  const dataset = path.join(folder.path, `dataset-${datasets++}`);
  mkdirSync(path.join(dataset, 'runs'), { recursive: true });
  return dataset;
}

function same(found, expected, what) {
  assert.ok(found === expected, `${what} ${parting(expected, found)}`);
}

const text = (dataset, name) => readFileSync(path.join(dataset, name), 'utf8');

test('index and rows agree with the baseline on datasets of mutated runs', async (t) => {
  for (let seed = 1; seed <= 6; seed++) {
    await t.test(`dataset ${seed}`, () => {
      const dataset = emptyDataset();
      const entries = writeDataset(dataset, new Random(seed), 60);
      const { status, stderr } = run(['index', dataset]);
      assert.equal(status, 0, stderr);
      const expected = rebuiltIndex(entries);
      for (const [name, content] of Object.entries(expected)) same(text(dataset, name), content, name);
      assert.equal(readdirSync(path.join(dataset, 'index/segments')).length, Object.keys(expected).length - 2);
      const rows = run(['rows', dataset]);
      assert.equal(rows.status, 0, rows.stderr);
      const ordered = JSON.parse(expected['index/summary.json']);
      same(rows.stdout.toString().trimEnd(), JSON.stringify(boardRows(ordered)), 'rows');
      const others = ['localmode-bench/12', 'localmode-bench/3', 'localmode-bench/5'];
      same(run(['rows', '--protocols', others.join(','), dataset]).stdout.toString().trimEnd(),
        JSON.stringify(boardRows(ordered, others)), 'rows of other protocols');
    });
  }
});

test('segments close before they pass 1,000,000 bytes', () => {
  const dataset = emptyDataset();
  const entries = writeDataset(dataset, new Random(99), 250, { fat: true });
  const { status, stderr } = run(['index', dataset]);
  assert.equal(status, 0, stderr);
  const expected = rebuiltIndex(entries);
  assert.ok(Object.keys(expected).length >= 4, 'two segments at least');
  for (const [name, content] of Object.entries(expected)) same(text(dataset, name), content, name);
});

/** An index with only a summary, as an older archive has. */
function rowsOf(entries, provisionalBy = 'submissions') {
  const dataset = emptyDataset();
  mkdirSync(path.join(dataset, 'index'));
  writeFileSync(path.join(dataset, 'index/summary.json'), JSON.stringify(entries));
  const { status, stdout, stderr } = run(['rows', '--provisional-by', provisionalBy, dataset]);
  assert.equal(status, 0, stderr);
  const printed = stdout.toString().trimEnd();
  same(printed, JSON.stringify(boardRows(entries, undefined, provisionalBy)), 'rows');
  return JSON.parse(printed);
}

const entryOf = (change, cell) => ({ runId: 'r1', createdAt: '2026-01-01T00:00:00Z', protocol: 'localmode-bench/5',
  deviceClass: 'linux/nvidia', deviceSubclass: 'linux/nvidia', browser: 'Chrome',
  flagged: false, path: 'runs/2026/01/r1.json', cells: [{ cellId: 'c', runtimeId: 'rt', benchModelId: 'm',
    modelName: 'M', workloadId: 'w', resolvedBackend: 'wasm', highVariance: false, ...cell }], ...change });

test('rows of a summary, clause by clause', async (t) => {
  await t.test('entries that are flagged, without a protocol or of one not shown are left out', () => {
    const { protocol, ...without } = entryOf({});
    assert.deepEqual(rowsOf([entryOf({ flagged: true }), without, entryOf({ protocol: 'localmode-bench/3' })]), []);
  });
  await t.test('medians are taken over cells and rounded half up to two decimals', () => {
    const [row] = rowsOf([[1.005, 1], [1.115, 2], [-2.345, 3], [8, 4]].map(([ttftMs, i]) =>
      entryOf({ runId: `r${i}` }, { ttftMs, decodeCharsPerSec: i / 8, loadMs: i, loadCached: i > 2 })));
    assert.deepEqual([row.ttftMs, row.decodeCharsPerSec, row.loadColdMs, row.loadWarmMs, row.submissions,
      row.provisional], [1.06, 0.31, 1.5, 3.5, 4, false]);
  });
  await t.test('a load that does not say counts as cold', () =>
    assert.equal(rowsOf([entryOf({}, { loadMs: 5 })])[0].loadColdMs, 5));
  await t.test('submissions are distinct runs', () => {
    const two = entryOf({});
    two.cells.push({ ...two.cells[0], cellId: 'd' });
    const [row] = rowsOf([two, entryOf({ runId: 'r2' }), entryOf({ runId: 'r3' })]);
    assert.deepEqual([row.submissions, row.provisional], [3, false]);
    assert.equal(rowsOf([two, entryOf({ runId: 'r2' })])[0].provisional, true);
  });
  await t.test('devices are what an entry tells apart, and count where they are asked to', () => {
    const traits = { gpuModel: 'RTX 1', os: 'Linux', osVersion: '6', architecture: 'x86', cores: 8, deviceMemoryGB: 8,
      browser: 'Chrome', browserVersion: '1', engine: 'Blink', deviceModel: 'M' };
    const of = (...list) => list.map((more, i) => entryOf({ runId: `r${i}`, ...traits, ...more }));
    const same = of({}, { createdAt: '2026-01-02T00:00:00Z', timerResolutionUs: 5, userReportedDevice: 'mine' }, {});
    for (const [entries, devices] of [[same, 1], ...Object.keys(traits).map((trait) =>
      [of({}, { [trait]: trait === 'cores' || trait === 'deviceMemoryGB' ? 4 : 'another' }, { [trait]: trait === 'browser' ? 'third' : undefined }), 3]),
    [of({ os: 'a\n', osVersion: 'b' }, { os: 'a', osVersion: '\nb' }, { cores: '8' }), 3]]) {
      const [row] = rowsOf(entries), [strict] = rowsOf(entries, 'devices');
      assert.deepEqual([row.submissions, row.devices, row.provisional, strict.provisional], [3, devices, false, devices < 3]);
      assert.deepEqual(Object.keys(row).slice(6, 9), ['workloadId', 'submissions', 'devices']);
    }
    const wrong = run(['rows', '--provisional-by', 'runs', emptyDataset()]);
    assert.equal(wrong.status, 64);
  });
  await t.test('the stream is incremental when all are, and silent when none says', () => {
    const of = (...streams) => rowsOf(streams.map((streamIncremental, i) =>
      entryOf({ runId: `r${i}` }, streamIncremental === undefined ? {} : { streamIncremental })))[0];
    assert.equal(of(true, true).streamIncremental, true);
    assert.equal(of(true, false).streamIncremental, false);
    assert.equal(of(true, undefined).streamIncremental, true);
    assert.equal('streamIncremental' in of(undefined), false);
  });
  await t.test('backends and browsers are distinct and sorted by code units', () => {
    const [row] = rowsOf(['\uffff', '\u{1F600}', 'b', 'B', 'b'].map((name, i) =>
      entryOf({ runId: `r${i}`, browser: name }, { resolvedBackend: name })));
    assert.deepEqual(row.browsers, ['B', 'b', '\u{1F600}', '\uffff']);
    assert.deepEqual(row.resolvedBackends, row.browsers);
  });
  await t.test('the newest protocol comes first, then classes by code units', () => {
    const rows = rowsOf([['localmode-bench/4', 'a/a'], ['localmode-bench/5', '\uffff/x'],
      ['localmode-bench/5', '\u{1F600}/x'], ['localmode-bench/5', 'B/x'], ['localmode-bench/5', 'b/x']].map(
      ([protocol, deviceClass], i) => entryOf({ runId: `r${i}`, protocol, deviceClass,
        deviceSubclass: deviceClass })));
    assert.deepEqual(rows.map(({ deviceClass }) => deviceClass), ['B/x', 'b/x', '\u{1F600}/x', '\uffff/x', 'a/a']);
  });
  await t.test('an old entry without a subclass gets it from its class and model', () => {
    for (const [deviceClass, gpuModel, expected] of [['android/qualcomm', 'Adreno (TM) 650', 'android/adreno-650'],
      ['linux/intel', 'Arc', 'linux/intel'], ['linux/no-webgpu', 'HD 620', 'linux/no-webgpu'],
      ['linux/intel', undefined, 'linux/intel']]) {
      const { deviceSubclass, ...old } = entryOf({ deviceClass, gpuModel });
      assert.equal(rowsOf([old])[0].deviceSubclass, expected);
    }
  });
  await t.test('class and model name are those first seen', () => {
    const [row] = rowsOf([entryOf({ deviceClass: 'linux/one' }, { modelName: 'First' }),
      entryOf({ runId: 'r2', deviceClass: 'linux/two' }, { modelName: 'Second' })]);
    assert.deepEqual([row.deviceClass, row.modelName], ['linux/one', 'First']);
  });
});
