// The validator as WebAssembly, run by Node: it must say of every file what the command line says, to the byte.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Folder, lines, run as runBinary } from '../support/checker.mjs';
import { corpusFiles, NO_CORPUS } from '../support/corpus.mjs';
import { mutatedFile } from '../support/mutate.mjs';
import { landmarks, randomText } from '../support/numbers.mjs';
import { Random } from '../support/prng.mjs';
import { canonical, CELL_KINDS, digestOf, makeRun, seal } from '../support/run.mjs';
import { baseOf, RULE_CASES } from '../support/rule_cases.mjs';
import { BINARY, startService } from '../support/service.mjs';
import { brokenRun, SHAPE_CASES } from '../support/shape_cases.mjs';
import { BenchError, canonical as clientCanonical, Validator } from '../../pages/assets/client.js';

const WASM = path.join(path.dirname(BINARY), '../pages/module/validator.wasm');
const BYTES = readFileSync(WASM);
const MODULE = await WebAssembly.compile(BYTES);
const validator = new Validator(MODULE);

/** Asserts that module and command line print the same lines about FILES: [[name, bytes or text]]. */
function assertSame(files, { anyProtocol = false } = {}) {
  const folder = new Folder();
  try {
    const names = files.map(([, content], i) => folder.write(`${i}.json`, content));
    const { stdout } = runBinary(['check', '--json', ...(anyProtocol ? ['--any-protocol'] : []), ...names]);
    const expected = lines(stdout);
    assert.equal(expected.length, files.length);
    for (const [i, [name, content]] of files.entries())
      assert.equal(validator.checkLine(content, { name: names[i], anyProtocol }), `${expected[i]}\n`, name);
  } finally {
    folder.close();
  }
}

const texts = (cases, make) => cases.map((one) => [one.name, JSON.stringify(make(one))]);

test('module: imports nothing and stays below 250 KB compressed', (t) => {
  assert.deepEqual(WebAssembly.Module.imports(MODULE), []);
  const packed = gzipSync(BYTES, { level: 9 }).length;
  t.diagnostic(`${BYTES.length} bytes, ${packed} compressed`);
  assert.ok(packed < 250_000, `${packed} bytes`);
});

test('module: says of every rule case what the command line says', () => {
  assertSame(texts(RULE_CASES, (one) => seal(baseOf(one))));
});

test('module: says of every shape case what the command line says', () => {
  const files = texts(SHAPE_CASES, (one) => {
    const run = brokenRun(one);
    return run && typeof run === 'object' && !Array.isArray(run) ? seal(run) : run;
  });
  assertSame(files);
  assertSame(files, { anyProtocol: true });
});

test('module: says of made-up runs, archived ones and legacy digests what the command line says', () => {
  const runs = [1, 2, 3, 4].map((seed) => makeRun({ seed, cells: CELL_KINDS, clock: seed % 2 ? 'coarse' : 'fine' }));
  const files = [
    ...runs.map((run, i) => [`run ${i}`, JSON.stringify(seal(run))]),
    ['archived', JSON.stringify(seal(makeRun({ protocol: 'localmode-bench/2', schemaVersion: 1 })))],
    ['legacy', JSON.stringify(seal(runs[0], 'a-nonce', { legacy: true }))],
    ['without digest', JSON.stringify(runs[0])],
    ['wrong digest', JSON.stringify({ ...runs[0], digest: 'f'.repeat(64) })],
    ['hostile', JSON.stringify(seal({ ...makeRun(), harness: { name: '<img src=x onerror=alert(1)>\u202e\ud83d', version: '\0"' } }))],
  ];
  assertSame(files);
  assertSame(files, { anyProtocol: true });
});

test('module: says of what is no run file what the command line says', () => {
  const bytes = (...list) => Buffer.from(list);
  assertSame([['empty', ''], ['space', ' '], ['not JSON', '{"a":'], ['a word', 'hello'], ['null', 'null'], ['array', '[1,2]'],
    ['number', '1e999'], ['deep', '['.repeat(129) + ']'.repeat(129)], ['128 deep', '['.repeat(128) + ']'.repeat(128)],
    ['very deep', '['.repeat(500_000)], ['bad UTF-8', bytes(0x22, 0xff, 0x22)], ['mark', '\ufeff{}'], ['trailing', '{} x'],
    ['NUL', bytes(0)], ['lines', '{\n\n  "a": x}'], ['UTF-16', Buffer.from('{}', 'utf16le')], ['object', '{}']]);
});

test('module: names are printed as given', () => {
  const folder = new Folder();
  try {
    const name = folder.write('ein "Lauf" \\ \u{1F600}\t.json', '{}');
    assert.equal(validator.checkLine('{}', { name }), runBinary(['check', '--json', name]).stdout.toString());
  } finally {
    folder.close();
  }
});

test('module: says of every corpus file what the command line says', { skip: NO_CORPUS }, (t) => {
  const files = corpusFiles();
  for (const options of [[], ['--any-protocol']]) {
    const expected = lines(runBinary(['check', '--json', ...options, ...files]).stdout);
    for (const [i, name] of files.entries())
      assert.equal(validator.checkLine(readFileSync(name), { name, anyProtocol: options.length > 0 }), `${expected[i]}\n`, name);
  }
  t.diagnostic(`${files.length} files, twice`);
});

test('module: says of mutated files what the command line says', (t) => {
  const random = new Random(20261130), originals = corpusFiles().map((name) => readFileSync(name, 'utf8'));
  const files = Array.from({ length: 400 }, (_, i) => [`mutated file ${i}`, mutatedFile(random, originals)]);
  assertSame(files);
  assertSame(files, { anyProtocol: true });
  for (const [name, bytes] of files) assert.doesNotThrow(() => [validator.dryRun(bytes), validator.runPage(bytes), validator.scrub(bytes)], name);
  t.diagnostic(`${files.length} files`);
});

test('module: a run is shown as on its own page', async (t) => {
  const service = await startService(t, { config: { board_protocols: 'localmode-bench/4' } }); // no links to rows
  const run = makeRun({ cells: CELL_KINDS });
  const { status, body } = await service.submit(run);
  assert.equal(status, 200);
  const page = await (await service.fetch(`/run/${run.runId}`)).text();
  const markup = validator.runPage(service.file(body.path));
  for (const part of ['verdict', 'results', 'environment', 'events', 'cells']) {
    const cut = (text) => new RegExp(`<section id="${part}">[^]*?(?=<section id="|</article>)`).exec(text)?.[0];
    assert.ok(cut(markup)?.length > 50, part);
    assert.equal(cut(markup), cut(page), part);
  }
});

test('module: digest, canonical form and published bytes are those of the command line', () => {
  const folder = new Folder();
  try {
    const run = seal(makeRun({ cells: CELL_KINDS }), 'nonce');
    run.environment.languages = ['de'];
    const name = folder.write('run.json', { ...run, digest: digestOf(run) });
    const file = readFileSync(name);
    assert.equal(`${validator.digest(file)}\n`, runBinary(['digest', name]).stdout.toString());
    assert.deepEqual(Buffer.from(validator.canonical(file)), runBinary(['digest', '--canonical', name]).stdout);
    const { digest, nonce, ...rest } = JSON.parse(file);
    assert.equal(Buffer.from(validator.canonical(file)).toString(), canonical(rest));
    assert.equal(clientCanonical(JSON.parse(file)), canonical(rest), 'the JavaScript of client.js agrees');
    const stamp = (bytes) => bytes.toString().replace(/"scrubbedAt":"[^"]*"/, '').replace(/"digest":"[^"]*"/, '');
    assert.equal(stamp(Buffer.from(validator.scrub(file))), stamp(runBinary(['scrub', name]).stdout));
    const now = Date.UTC(2026, 1, 3, 4, 5, 6, 789);
    assert.match(Buffer.from(validator.scrub(file, { now })).toString(), /"scrubbedAt":"2026-02-03T04:05:06.789Z"/);
    for (const nothing of ['[1]', 'x', '']) {
      assert.equal(validator.digest(nothing), null);
      assert.equal(validator.canonical(nothing), null);
      assert.equal(validator.scrub(nothing), null);
      assert.equal(validator.runPage(nothing), null);
    }
  } finally {
    folder.close();
  }
});

test('module: reads and prints numbers as JavaScript does', (t) => {
  const random = new Random(4);
  const texts = [...landmarks(), ...Array.from({ length: 200_000 }, (_, i) => randomText(random, i))]
    .filter((text) => { try { return Number.isFinite(JSON.parse(text)); } catch { return false; } });
  const found = Buffer.from(validator.canonical(`{"n":[${texts.join(',')}]}`)).toString();
  const expected = `{"n":[${texts.map((text) => JSON.stringify(JSON.parse(text))).join(',')}]}`;
  assert.ok(found === expected, 'a number differs');
  t.diagnostic(`${texts.length} numbers`);
});

test('module: the dry run is that of the service, refusals too', async (t) => {
  const service = await startService(t);
  const day = 24 * 3600 * 1000;
  const at = (ms) => new Date(ms).toISOString();
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const secret = makeRun();
  secret.notes = token;
  const large = makeRun({ cells: ['llm'] });
  const files = [seal(makeRun({ cells: CELL_KINDS })), seal(makeRun(), 'nonce', { legacy: true }), { ...makeRun(), digest: 'x' },
    makeRun(), seal({ ...makeRun(), suite: 'else' }), seal(makeRun({ protocol: 'localmode-bench/4' })), seal(secret),
    seal(makeRun({ createdAt: at(Date.now() + 3 * day) })), seal(makeRun({ createdAt: '2025-12-31T23:59:59Z' })),
    seal(large), '{"a"', '[]', seal(RULE_CASES.slice(1, 2).map((one) => baseOf(one))[0])];
  const codes = new Set();
  for (const file of files) {
    const text = typeof file === 'string' ? file : JSON.stringify(file);
    const { body } = await service.post(text, { place: '/api/bench/validate' });
    const found = validator.dryRun(text);
    // A scrub stamps its time into the file: digests of changed files differ by it.
    if (body.removed?.length) delete body.digest, delete found.digest;
    assert.equal(JSON.stringify(found), JSON.stringify(body));
    codes.add(body.code ?? (body.flagged ? 'flagged' : 'good'));
  }
  assert.deepEqual([...codes].sort(), ['digest-mismatch', 'flagged', 'good', 'invalid-json', 'invalid-shape', 'store-declined']);
});

test('module: time is an argument, and limits of createdAt follow it', () => {
  const file = JSON.stringify(seal(makeRun({ createdAt: '2026-03-01T00:00:00Z' })));
  const created = Date.UTC(2026, 2, 1), ahead = 48 * 3600 * 1000;
  assert.equal(validator.dryRun(file, { now: created - ahead }).ok, true);
  assert.deepEqual(validator.dryRun(file, { now: created - ahead - 1 }).errors,
    [{ path: '/createdAt', message: 'is more than 48 hours in the future' }]);
});

/** A made-up run of about SIZE bytes, most of it the trace. */
function runOf(size) {
  const make = (iterations) => JSON.stringify(seal(makeRun({ cells: ['llm', 'embed-single'], iterations, chunks: 800, clock: 'fine' })));
  const [one, two] = [make(1).length, make(2).length];
  return make(Math.round((size - one) / (two - one)) + 1);
}

test('module: checks 1.4 MB in less than 300 ms', (t) => {
  const real = corpusFiles().map((name) => readFileSync(name)).filter((file) => file.length > 1_300_000);
  for (const [name, file] of [['made up', runOf(1_400_000)], ...real.map((bytes, i) => [`real ${i}`, bytes])]) {
    const bytes = Buffer.from(file), fresh = new Validator(MODULE);
    const times = [1, 2, 3, 4, 5].map(() => {
      const started = performance.now();
      fresh.check(bytes, { anyProtocol: true });
      return performance.now() - started;
    });
    const page = performance.now();
    const markup = fresh.runPage(bytes);
    assert.ok(markup);
    t.diagnostic(`${name}, ${bytes.length} bytes: first ${times[0].toFixed(0)} ms, best ${Math.min(...times).toFixed(0)} ms; `
      + `run page ${(performance.now() - page).toFixed(0)} ms, ${markup.length} bytes`);
    if (process.env.BENCHLEDGER_FULL === '1') assert.ok(Math.min(...times) < 300, `${times}`);
  }
});

test('module: memory has a limit, the failure is clean and the next file is judged', () => {
  const fresh = new Validator(MODULE);
  const huge = Buffer.alloc(40_000_000, '[0],'.repeat(1000));
  huge[0] = 0x5b;
  const file = Buffer.concat([Buffer.from('['), huge, Buffer.from('0]')]);
  assert.throws(() => fresh.check(file), (error) => error instanceof BenchError && error.code === 'out-of-memory');
  assert.throws(() => fresh.check(Buffer.alloc(300_000_000, 0x20)), { code: 'out-of-memory' });
  assert.equal(fresh.check(JSON.stringify(seal(makeRun()))).ok, true);
});

test('module: the run as its page, with everything from the file escaped', () => {
  const evil = '<script>alert(1)</script><img src=x onerror=alert(2)>"\'\u202e';
  const run = makeRun({ cells: CELL_KINDS });
  run.environment.userReportedDevice = evil;
  run.cells[0].model.displayName = evil;
  run.cells[0].iterations[0].text = run.cells[0].iterations[0].text.replace(/^.{20}/, evil.slice(0, 20));
  const markup = validator.runPage(JSON.stringify(seal(run)));
  assert.match(markup, /^<article class="run">/);
  assert.match(markup, /<svg/);
  assert.match(markup, /&lt;script&gt;/);
  assert.doesNotMatch(markup, /<script|<img|\u202e/i);
});
