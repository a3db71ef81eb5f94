// `replay`: what another rule set would say of an archive, and what only the whole archive shows.
// The archive of 10,000 runs is looked at with BENCHLEDGER_FULL=1.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { Folder, lines, run } from '../support/checker.mjs';
import { corpusFiles, NO_CORPUS } from '../support/corpus.mjs';
import { DISGUISES, plantArchive, store } from '../support/planted.mjs';
import { baseOf3, CATALOGUE } from '../support/rule_cases_3.mjs';
import { canonical, sha256 } from '../support/run.mjs';

const folder = new Folder();
after(() => folder.close());
const loose = folder.write('catalogue.json', { ...CATALOGUE, runtimes: [...CATALOGUE.runtimes, 'litert'],
  models: [...CATALOGUE.models, { benchModelId: 'other-model', displayName: 'Other' }] });

function replay(dataset, options = ['--rules=3', `--catalogue=${loose}`]) {
  const { status, stdout, stderr } = run(['replay', '--json', ...options, dataset]);
  const found = lines(stdout).map((line) => JSON.parse(line));
  const of = (kind) => found.filter((item) => item.kind === kind);
  return { status, stderr, flips: of('flip'), reuse: of('trace-reuse'), outliers: of('rate-outlier'),
    codes: Object.fromEntries(of('code').map((item) => [item.code, item])), counts: found.at(-1) };
}

const dataset = (name) => {
  const place = path.join(folder.path, name);
  mkdirSync(place);
  return place;
};

/** Compares what is told with the streams that stand twice. */
function compareReuse(reuse, expected) {
  const name = ({ path: file, cellId, iteration }) => `${file} ${cellId} ${iteration}`;
  const told = new Map(reuse.map(({ earlier, later, scale }) => [[name(earlier), name(later)].sort().join(' = '), scale]));
  assert.deepEqual([...told.keys()].filter((pair) => !expected.some((one) => one.pair === pair)), [], 'alarms on unplanted ones');
  assert.deepEqual(expected.filter(({ pair }) => !told.has(pair)), [], 'planted ones that were missed');
  assert.equal(reuse.length, expected.length);
  for (const { pair, factor } of expected) assert.ok(Math.abs(told.get(pair) / factor - 1) < 1e-4, pair);
}

test('every planted copy is found, shifted, renamed or scaled, and no other run is suspected', () => {
  const place = dataset('planted');
  const expected = plantArchive(place, 280, 35);
  assert.ok(expected.runs === 35 && expected.length > 80);
  const { status, reuse, flips, counts } = replay(place);
  assert.deepEqual([status, flips, counts.files, counts.repeatedStreams], [0, [], 315, expected.length]);
  compareReuse(reuse, expected);
  assert.deepEqual(replay(place, ['--rules', '2']).reuse, [], 'set 2 looks at no archive');
});

test('a stream that was accepted first is the earlier one, whatever its path', () => {
  const place = dataset('order');
  plantArchive(place, 1, 1);
  const [day] = ['2026-01-02'];
  mkdirSync(path.join(place, 'ledger'));
  const line = (seq, runId, at) => canonical({ seq, prev: '0'.repeat(64), at, event: 'accept', runId,
    path: `runs/2026/01/${runId}.json`, digest: '', submittedDigest: '', rules: 2, flags: [] });
  writeFileSync(path.join(place, `ledger/${day}.jsonl`), `${line(1, 'planted-run-000000', `${day}T00:00:01.000Z`)}
${line(2, 'honest-run-000000', `${day}T00:00:02.000Z`)}\n`);
  const { reuse } = replay(place);
  assert.equal(reuse.length, 3);
  for (const { earlier, later } of reuse)
    assert.deepEqual([earlier.path, later.path].map((name) => path.basename(name)), ['planted-run-000000.json', 'honest-run-000000.json']);
});

test('without lines the one that was made first is the earlier one, and names that are no UTF-8 are shown', () => {
  const place = dataset('undated');
  const stored = [['zzzz-original', '2026-01-02'], ['aaaa-copied-1', '2026-01-20']].map(([id, day]) =>
    store(place, baseOf3({ mutate(one) { one.createdAt = `${day}T00:00:00.000Z`; } }, { id, seed: 7, iterations: 1, chunks: 200 }), 'runs'));
  const odd = Buffer.concat([Buffer.from(`${place}/runs/2026/01/`), Buffer.from([0xff]), Buffer.from('.json')]);
  renameSync(path.join(place, stored[1]), odd);
  const [{ earlier, later }] = replay(place).reuse;
  assert.equal(path.basename(earlier.path), 'zzzz-original.json');
  assert.equal(later.path, 'runs/2026/01/?.json');
});

test('of three that are the same the first one that was accepted is no copy', () => {
  const place = dataset('three');
  const order = ['of-three-b', 'of-three-c', 'of-three-a'];
  mkdirSync(path.join(place, 'ledger'));
  writeFileSync(path.join(place, 'ledger/2026-01-16.jsonl'), order.map((runId, i) => {
    const file = store(place, baseOf3({ mutate() {} }, { id: runId, seed: 7, iterations: 1, chunks: 200 }), 'runs');
    return `${canonical({ seq: i + 1, prev: '0'.repeat(64), at: `2026-01-16T00:00:0${i}.000Z`, event: 'accept', runId, path: file,
      digest: '', submittedDigest: '', rules: 2, flags: [] })}\n`;
  }).join(''));
  const named = replay(place).reuse.map(({ earlier, later }) => [earlier, later].map((one) => path.basename(one.path, '.json')));
  assert.deepEqual([...new Set(named.map((pair) => pair.join(' ')))], ['of-three-b of-three-c', 'of-three-b of-three-a']);
});

const llm = (one) => one.cells.find(({ workloadKind }) => workloadKind === 'llm-generate');

/** Runs in every state that the ledger knows, with what set 3 has to say of them. */
function storied(place) {
  const made = [];
  const add = (name, mutate, { at = '2026-01-15T12:05:00.000Z', to = 'runs', flags = [], now = to, line = true }) => {
    const one = baseOf3({ mutate }, { id: `storied-${name}`, seed: made.length + 1 });
    const file = store(place, one, now);
    if (line) made.push({ at, event: 'accept', runId: one.runId, path: file.replace(/^\w+/, to), digest: '', submittedDigest: '', rules: 2, flags });
    return file;
  };
  const files = {
    fine: add('fine', () => {}, {}),
    unknown: add('unknown', (one) => { llm(one).model.benchModelId = 'new-model'; one.suite = 'custom'; }, {}),
    flagged: add('flagged', (one) => { one.fingerprint = null; }, { to: 'quarantine', flags: ['fingerprint-missing'] }),
    released: add('released', (one) => { one.fingerprint = null; }, { to: 'quarantine', now: 'runs', flags: ['fingerprint-missing'] }),
    harmless: add('harmless', () => {}, { to: 'quarantine', flags: ['some-older-rule'] }),
    by_hand: add('by-hand', () => {}, { line: false, to: 'quarantine' }),
    withdrawn: add('withdrawn', (one) => { one.fingerprint = null; }, { now: 'withdrawn' }),
    late: add('late', () => {}, { at: '2026-03-15T12:00:00.000Z' }),
    warned: add('warned', (one) => { llm(one).iterations[0].gates = ['hidden']; }, { flags: ['gated-cell'] }),
  };
  mkdirSync(path.join(place, 'ledger'));
  let prev = '0'.repeat(64);
  made.sort((a, b) => (a.at < b.at ? -1 : 1));
  const text = made.map((event, i) => {
    const line = canonical({ seq: i + 1, prev, ...event });
    prev = sha256(line);
    return line;
  });
  writeFileSync(path.join(place, 'ledger/2026-01-15.jsonl'), `${text.join('\n')}\n`);
  return files;
}

test('verdicts that would flip are listed with their evidence, against what the ledger says of each run', () => {
  const place = dataset('storied');
  const files = storied(place);
  const { status, flips, codes, counts } = replay(place);
  assert.equal(status, 1);
  const brief = flips.map(({ path: file, was, now, lies, rulesBefore, codesBefore, flags }) =>
    [file, was, now, lies, rulesBefore, codesBefore, flags.map(({ code }) => code)]);
  assert.deepEqual(brief.sort(), [
    [files.by_hand, 'quarantine', 'publish', 'quarantine', undefined, undefined, []],
    [files.harmless, 'quarantine', 'publish', 'quarantine', 2, ['some-older-rule'], []],
    [files.unknown, 'publish', 'quarantine', 'publish', 2, [], ['unknown-name']],
  ]);
  assert.deepEqual(flips.find(({ now }) => now === 'quarantine').flags[0].evidence, { field: 'benchModelId', name: 'new-model' });
  assert.deepEqual([counts.files, counts.toQuarantine, counts.toBoard, counts.notJudged], [8, 1, 2, 0]);
  const row = (code) => [codes[code].rejects, codes[code].runs, codes[code].knownRuns];
  assert.deepEqual(row('fingerprint-missing'), [true, 2, 2]);
  assert.deepEqual(row('created-far-from-acceptance'), [false, 1, 0]);
  assert.deepEqual(row('gated-cell'), [false, 1, 1]);
  assert.deepEqual(Object.keys(codes).sort(), ['created-far-from-acceptance', 'fingerprint-missing', 'gated-cell', 'unknown-name']);
  const text = run(['replay', '--rules=3', `--catalogue=${loose}`, place]).stdout.toString();
  assert.match(text, /^flips {4}publish -> quarantine {2}runs\/2026\/01\/storied-unknown\.json {2}set 2 said \[\]$/m);
  assert.match(text, /^ {4}reject unknown-name .*"name":"new-model"/m);
  assert.match(text, /^set 3: files 8, flips to quarantine 1, flips to the board 2, /m);
  const second = replay(place, ['--rules=2']);
  assert.deepEqual(second.flips.map(({ path: file }) => file).sort(), [files.by_hand, files.harmless]);
});

test('a file that cannot be judged is named, and the rest is judged', () => {
  const place = dataset('broken');
  const file = store(place, baseOf3({ mutate() {} }));
  writeFileSync(path.join(place, path.dirname(file), 'a.json'), '{"runId":');
  writeFileSync(path.join(place, path.dirname(file), 'b.json'), '{}');
  const { status, stderr, counts } = replay(place);
  assert.deepEqual([status, counts.files, counts.notJudged], [1, 3, 2]);
  assert.match(stderr, /a\.json: is not JSON[^]*b\.json: .* is required/);
});

test('nothing flips: 0; no dataset: 3; no such set, or none named: 64', () => {
  const place = dataset('quiet');
  store(place, baseOf3({ mutate() {} }));
  assert.equal(replay(place).status, 0);
  assert.equal(run(['replay', '--rules=3', path.join(place, 'nothing-here')]).status, 3);
  for (const args of [[place], ['--rules=4', place], ['--rules=3']]) assert.equal(run(['replay', ...args]).status, 64);
});

test('a rate far from those of the same device and cell is an outlier, from 8 runs on', () => {
  const place = dataset('outliers');
  const of = (i, chunkMs) => store(place, baseOf3({ mutate() {} }, { id: `outlier-${i}`, seed: i + 1, chunkMs, gpuModel: 'GPU 1' }));
  for (let i = 0; i < 6; i++) of(i, 14);
  const odd = of(6, 9);
  store(place, baseOf3({ mutate() {} }, { id: 'other-device', seed: 77, gpuModel: 'GPU 2', chunkMs: 9 }));
  assert.deepEqual(replay(place).outliers, []);
  of(7, 14);
  const { status, outliers } = replay(place);
  assert.equal(status, 0, 'an outlier is no verdict');
  assert.deepEqual(outliers.map(({ path: file, metric, runs }) => [file, metric, runs]),
    [[odd, 'decodeCharsPerSec', 8], [odd, 'overallCharsPerSec', 8]]);
  for (const { value, median, z } of outliers) assert.ok(value > median * 1.3 && z > 6);
});

test('the real run files raise nothing', { skip: NO_CORPUS }, () => {
  const { status, flips, reuse, outliers, codes, counts } = replay(path.resolve(corpusFiles()[0], '../../../..'), ['--rules=3']);
  assert.deepEqual([status, flips, reuse, outliers, codes, counts.files], [0, [], [], [], {}, corpusFiles().length]);
});

test('copies of the real streams are found, every iteration of them', { skip: NO_CORPUS }, () => {
  const place = dataset('real');
  const expected = [];
  for (const [n, disguise] of Object.keys(DISGUISES).entries())
    for (const [i, name] of corpusFiles().entries()) {
      const original = JSON.parse(readFileSync(name, 'utf8')), copy = structuredClone(original);
      copy.runId = `zz-copy-${n}-${i}`;
      const streams = (one) => one.cells.filter(({ status, iterations }) => status === 'ok' && iterations[0]?.chunks);
      for (const cell of streams(copy)) DISGUISES[disguise][0](cell);
      if (n === 0) store(place, original);
      store(place, copy);
      expected.push(...streams(original).flatMap(({ iterations }) => iterations.map((_, j) => `${original.runId} ${copy.runId} ${j}`)));
    }
  const { reuse } = replay(place);
  const id = ({ path: file }) => path.basename(file, '.json');
  assert.deepEqual(reuse.map(({ earlier, later }) => `${id(earlier)} ${id(later)} ${later.iteration}`).sort(), expected.sort());
  assert.ok(expected.length > 0);
});

test('among 10,000 runs every planted copy is found within a minute', { skip: !process.env.BENCHLEDGER_FULL }, (t) => {
  const place = dataset('large');
  const expected = plantArchive(place, 10_000, 200);
  const began = Date.now();
  const { reuse, counts } = replay(place);
  const seconds = (Date.now() - began) / 1000;
  t.diagnostic(`${counts.files} runs, ${expected.length} planted streams in ${expected.runs} runs, ${reuse.length} told, ${seconds} s`);
  compareReuse(reuse, expected);
  assert.ok(seconds < 60, `${seconds} s`);
});
