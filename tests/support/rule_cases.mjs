// Every clause of rule set 2 (spec 02) as a run that breaks it and runs that just do not.
// A case: {name, mutate(run), flags: [[code, severity, cellId?]...]}, `keepClient` when it writes the
// client's summaries itself; otherwise they are recomputed after the change, as an honest client would.
import { recompute } from '../bench/baseline.mjs';
import { makeRun, mmluQuality } from './run.mjs';

const EMOJI = '\u{1F600}';
const KINDS = ['llm', 'embed-single', 'embed-batch', 'quality-mmlu', 'quality-sts', 'invalid', 'error'];

const cellOf = (run, workloadKind) => run.cells.find((cell) => cell.workloadKind === workloadKind);
const llm = (run) => cellOf(run, 'llm-generate');
const single = (run) => cellOf(run, 'embed-single');
const batch = (run) => cellOf(run, 'embed-batch');
const mmlu = (run) => cellOf(run, 'quality-mmlu');
const sts = (run) => cellOf(run, 'quality-sts');
const invalid = (run) => run.cells.find((cell) => cell.status === 'invalid');
const client = (run, cell) => run.clientSummaries.find((summary) => summary.cellId === cell.cellId);

const LLM = 'webllm/smollm2-135m/chat-pp128-tg128';
const SINGLE = 'transformers-wasm/bge-small-en/embed-single';
const BATCH = 'transformers-wasm/bge-small-en/embed-batch32';
const MMLU = 'webllm/smollm2-135m/quality-mmlu-25';
const INVALID = 'webllm-f32/smollm2-135m/chat-pp128-tg128';

/** The run a case starts from; times are judged against no timer grid unless the case sets one. */
export function baseOf({ mutate, keepClient = false }, options = {}) {
  const run = makeRun({ cells: KINDS, ...options });
  run.environment.timerResolutionUs = null;
  mutate(run);
  if (!keepClient) run.clientSummaries = recompute(run);
  return run;
}

/** An iteration with integer times, so that its rates are exact: first chunk after TTFT, one every STEP ms. */
function stream({ startT = 1000, ttft = 100, chunks = 101, c = 4, step = 1, tail = 10 } = {}) {
  const made = Array.from({ length: chunks }, (_, i) => ({ t: startT + ttft + i * step, c }));
  return { startT, chunks: made, endT: made.at(-1).t + tail, text: 'x'.repeat(chunks * c), gates: [] };
}

/** All characters in one chunk: no decode rate, only an overall one. */
const burst = ({ startT = 1000, total = 100, chars = 400 } = {}) =>
  ({ startT, chunks: [{ t: startT + total, c: chars }], endT: startT + total, text: 'x'.repeat(chars), gates: [] });

const thrice = (make) => [make(), make(), make()];
const durations = (cell, values, count) => {
  cell.iterations = values.map((ms) => ({ startT: 0, endT: ms, count, dimensions: 384, gates: [] }));
};

const cases = [];
const add = (name, flags, mutate, more) => cases.push({ name, flags, mutate, ...more });
/** One rule that must speak, once. */
const fails = (code, name, mutate, cellId, severity = 'reject', more = {}) =>
  add(`${code}: ${name}`, [[code, severity, ...(cellId ? [cellId] : [])]], mutate, more);
const passes = (code, name, mutate, more) => add(`${code} not: ${name}`, [], mutate, more);

add('a run as a client makes it', [], () => {});

fails('fingerprint-missing', 'null', (run) => { run.fingerprint = null; });
fails('fingerprint-missing', 'absent', (run) => { delete run.fingerprint; });
for (const mflops of [1, 0.5, 0, -3, 100000.00000000001, 1e9])
  fails('fingerprint-implausible', `mflops ${mflops}`, (run) => { run.fingerprint.mflops = mflops; });
for (const mflops of [1.0000000000000002, 2, 99999.9, 100000])
  passes('fingerprint-implausible', `mflops ${mflops}`, (run) => { run.fingerprint.mflops = mflops; });
fails('fingerprint-implausible', 'checksum null', (run) => { run.fingerprint.checksum = null; });
fails('fingerprint-implausible', 'checksum absent', (run) => { delete run.fingerprint.checksum; });
fails('fingerprint-implausible', 'mflops and checksum, once', (run) => { run.fingerprint = { ...run.fingerprint,
  mflops: 0, checksum: null }; });
passes('fingerprint-implausible', 'checksum 0', (run) => { run.fingerprint.checksum = 0; });

const load = (startT, endT) => ({ cached: false, startT, endT });
fails('load-time-reversed', 'end before start', (run) => { llm(run).load = load(100.5, 100.4); }, LLM);
fails('load-time-reversed', 'in a cell that embeds', (run) => { single(run).load = load(1, 0); }, SINGLE);
fails('load-time-reversed', 'in a cell without iterations', (run) => { mmlu(run).load = load(1, 0); }, MMLU);
passes('load-time-reversed', 'end at start', (run) => { llm(run).load = load(100.5, 100.5); });
passes('load-time-reversed', 'no load', (run) => { llm(run).load = null; });
passes('load-time-reversed', 'load absent', (run) => { delete llm(run).load; });

const trace = (change) => (run) => change(llm(run).iterations[1], llm(run).iterations);
fails('trace-not-monotonic', 'a chunk before its predecessor',
  trace(({ chunks }) => { chunks[5].t = chunks[4].t - 0.001; }), LLM);
passes('trace-not-monotonic', 'a chunk at its predecessor', trace(({ chunks }) => { chunks[5].t = chunks[4].t; }));
fails('trace-not-monotonic', 'the first chunk before the start',
  trace((i) => { i.chunks[0].t = i.startT - 0.001; }), LLM);
passes('trace-not-monotonic', 'the first chunk at the start', trace((i) => { i.chunks[0].t = i.startT; }));
fails('trace-not-monotonic', 'the end before the last chunk',
  trace((i) => { i.endT = i.chunks.at(-1).t - 0.001; }), LLM);
passes('trace-not-monotonic', 'the end at the last chunk', trace((i) => { i.endT = i.chunks.at(-1).t; }));
fails('trace-not-monotonic', 'a chunk without characters counts',
  trace(({ chunks }) => { chunks.splice(5, 0, { t: chunks[4].t - 1, c: 0 }); }), LLM);
const empty = (ms) => trace((i) => { i.chunks = []; i.text = ''; i.endT = i.startT + ms; });
add('trace-not-monotonic: no chunk, the end before the start', [['trace-not-monotonic', 'reject', LLM],
  ['degenerate-generation', 'reject', LLM]], empty(-0.5));
add('trace-not-monotonic not: no chunk, the end at the start', [['degenerate-generation', 'reject', LLM]],
  empty(0));

fails('text-chunk-mismatch', 'a unit less', trace((i) => { i.text = i.text.slice(1); }), LLM);
fails('text-chunk-mismatch', 'a unit more', trace((i) => { i.text += 'x'; }), LLM);
fails('text-chunk-mismatch', 'half a character', trace((i) => { i.chunks[0].c += 0.5; }), LLM);
fails('text-chunk-mismatch', 'an emoji counted once', trace((i) => { i.text += EMOJI; i.chunks.at(-1).c += 1; }),
  LLM);
passes('text-chunk-mismatch', 'an emoji counted twice', trace((i) => { i.text += EMOJI; i.chunks.at(-1).c += 2; }));
fails('text-chunk-mismatch', 'a letter counted by its bytes',
  trace((i) => { i.text += '\u00e9'; i.chunks.at(-1).c += 2; }), LLM);
passes('text-chunk-mismatch', 'half an emoji counted once',
  trace((i) => { i.text += '\ud83d'; i.chunks.at(-1).c += 1; }));
passes('text-chunk-mismatch', 'NUL counted', trace((i) => { i.text = `a\0${i.text}`; i.chunks[0].c += 2; }));
fails('trace-not-monotonic', 'tested before the length', trace((i) => { i.text += 'x'; i.endT = i.startT; }), LLM);
fails('text-chunk-mismatch', 'the first failing iteration speaks',
  trace((i, all) => { all[0].text += 'x'; i.chunks[0].t = i.startT - 1; }), LLM);
fails('trace-not-monotonic', 'the first failing iteration speaks',
  trace((i, all) => { all[2].text += 'x'; i.chunks[0].t = i.startT - 1; }), LLM);

const text = (value) => trace((i) => {
  const kept = i.chunks.slice(0, 2);
  i.chunks = [{ t: kept[0].t, c: 1 }, { t: i.endT, c: value.length - 1 }];
  i.text = value;
});
fails('degenerate-generation', '15 units', text('x'.repeat(15)), LLM);
passes('degenerate-generation', '16 units', text('x'.repeat(16)));
passes('degenerate-generation', '16 units in 8 emoji', text(EMOJI.repeat(8)));
fails('degenerate-generation', '14 units in 7 emoji', text(EMOJI.repeat(7)), LLM);
fails('degenerate-generation', '15 letters of 2 bytes', text('\u00e9'.repeat(15)), LLM);

// Rates that come out exactly at the class's limit, and one character above.
for (const [limit, c, step, sizes] of [[4000, 4, 1, [0, 81788928, 5e8]], [2500, 5, 2, [5e8 + 1, 1e9]],
  [1500, 3, 2, [1e9 + 1, 2e9]], [1000, 1, 1, [2e9 + 1, 1e12, undefined]]]) {
  for (const size of sizes) {
    const sized = (make) => (run) => {
      if (size === undefined) delete llm(run).model.sizeBytes;
      else llm(run).model.sizeBytes = size;
      llm(run).iterations = thrice(make);
    };
    const of = `${limit} chars/s for ${size ?? 'an unknown number of'} bytes`;
    const above = () => {
      const made = stream({ c, step });
      made.chunks.at(-1).c += 1;
      made.text += 'x';
      return made;
    };
    passes('decode-rate-envelope', `at ${of}`, sized(() => stream({ c, step })));
    fails('decode-rate-envelope', `above ${of}`, sized(above), LLM);
    passes('overall-rate-envelope', `at ${of}`, sized(() => burst({ chars: limit / 10 })));
    fails('overall-rate-envelope', `above ${of}`, sized(() => burst({ chars: limit / 10 + 1 })), LLM);
  }
}
passes('decode-rate-envelope', 'one fast iteration of three', (run) => { llm(run).iterations = [stream({ c: 9 }),
  stream(), stream()]; });
fails('decode-rate-envelope', 'two fast iterations of three', (run) => { llm(run).iterations = [stream({ c: 9 }),
  stream(), stream({ c: 8 })]; }, LLM);
passes('decode-rate-envelope', 'a burst has no decode rate', (run) => { llm(run).iterations = [stream({ c: 8 }),
  stream({ c: 8 }), burst()]; });
add('both envelopes', [['decode-rate-envelope', 'reject', LLM], ['overall-rate-envelope', 'reject', LLM]],
  (run) => { llm(run).iterations = thrice(() => stream({ ttft: 1, c: 9, tail: 0 })); });

const ttft = (...values) => (run) => { llm(run).iterations = values.map((ms) =>
  stream({ startT: 1000, ttft: ms, step: 10 })); };
passes('ttft-implausible', '1 ms', ttft(1, 1, 1));
fails('ttft-implausible', 'less than 1 ms', ttft(0.9375, 0.9375, 0.9375), LLM);
fails('ttft-implausible', 'two of three', ttft(0.5, 50, 0.25), LLM);
passes('ttft-implausible', 'one of three', ttft(0.5, 50, 60));
fails('ttft-implausible', 'none at all', ttft(0, 0, 0), LLM);
passes('ttft-implausible', 'a burst has no first token', (run) => { llm(run).iterations = thrice(() =>
  ({ ...burst(), chunks: [{ t: 1000, c: 400 }] })); });

// A grid of 1 ms: chunks at whole milliseconds are on it, the first OFF of all are moved by SHIFT.
const grid = ({ us = 1000, counts = [7, 7, 6], off = 0, shift = 0.5 }) => (run) => {
  run.environment.timerResolutionUs = us;
  let left = off;
  llm(run).iterations = counts.map((chunks) => stream({ chunks, c: 8, step: 10 }));
  for (const { chunks } of llm(run).iterations) for (const chunk of chunks) if (left-- > 0) chunk.t += shift;
};
const offGrid = (name, options) => fails('timer-grid', name, grid(options), LLM, 'warn');
const onGrid = (name, options) => passes('timer-grid', name, grid(options));
offGrid('11 of 20 chunks beside it', { off: 11 });
onGrid('exactly half beside it', { off: 10 });
offGrid('11 of 21 chunks beside it', { counts: [7, 7, 7], off: 11 });
onGrid('10 of 21 chunks beside it', { counts: [7, 7, 7], off: 10 });
onGrid('only 19 chunks', { counts: [7, 7, 5], off: 19 });
offGrid('20 chunks in one iteration', { counts: [20], off: 20 });
offGrid('a distance of 0.02', { off: 20, shift: 0.02 });
offGrid('a distance of 0.02 below the next', { off: 20, shift: 0.98 });
onGrid('a distance of 0.005', { off: 20, shift: 0.005 });
onGrid('a distance of 0.005 below the next', { off: 20, shift: 0.995 });
offGrid('a timer of 4 us', { us: 4, off: 20, shift: 0.002 });
onGrid('a timer below 4 us', { us: 3.999, off: 20, shift: 0.0013 });
onGrid('a timer of 5 us, all on it', { us: 5, off: 20, shift: 0.005 });
onGrid('an unknown timer', { us: null, off: 20 });
passes('timer-grid', 'no timer field',
  (run) => { grid({ off: 20 })(run); delete run.environment.timerResolutionUs; });

const quality = (change) => (run) => change(mmlu(run).quality, mmlu(run));
fails('quality-outputs-mismatch', 'an output too many', quality((q) => { q.outputs.push('A'); }), MMLU);
fails('quality-outputs-mismatch', 'an output too few', quality((q) => { q.outputs.pop(); }), MMLU);
fails('quality-outputs-mismatch', 'n is another', quality((q) => { q.n = 26; }), MMLU);
fails('quality-outputs-mismatch', 'n is 0', quality((q) => { q.n = 0; }), MMLU);
fails('quality-outputs-mismatch', 'no details', quality((q) => { delete q.details; }), MMLU);
fails('quality-outputs-mismatch', 'a detail too few', quality((q) => { q.details.pop(); }), MMLU);
fails('quality-outputs-mismatch', 'a detail too many', quality((q) => { q.details.push(0); }), MMLU);
passes('quality-outputs-mismatch', 'no outputs', quality((q) => { delete q.outputs; delete q.details; }));
passes('quality-outputs-mismatch', 'another task', quality((q) => { q.taskId = 'mmlu-25'; q.outputs.pop(); }));
passes('quality-outputs-mismatch', 'the name in capitals is another task',
  quality((q) => { q.taskId = 'TinyMMLU-25'; q.outputs.pop(); }));
fails('quality-outputs-mismatch', 'the bare name is the task',
  quality((q) => { q.taskId = 'tinymmlu'; q.outputs.pop(); }), MMLU);
fails('quality-outputs-mismatch', 'in a cell that embeds', (run) => { single(run).quality = { ...mmluQuality(5),
  n: 6 }; }, SINGLE);
passes('quality-outputs-mismatch', 'an LLM cell', (run) => { llm(run).quality = { ...mmluQuality(5), n: 6 }; });

const rescored = (q) => { q.score = q.details.reduce((a, b) => a + b, 0) / q.n; };
fails('quality-details-mismatch', 'a hit too many',
  quality((q) => { q.details[q.details.indexOf(0)] = 1; rescored(q); }), MMLU);
fails('quality-details-mismatch', 'a hit too few',
  quality((q) => { q.details[q.details.indexOf(1)] = 0; rescored(q); }), MMLU);
fails('quality-details-mismatch', 'hit and miss swapped', quality((q) => { const hit = q.details.indexOf(1),
  miss = q.details.indexOf(0); q.details[hit] = 0; q.details[miss] = 1; }), MMLU);
fails('quality-details-mismatch', 'a detail of 0.5', quality((q) => { q.details[3] = 0.5; }), MMLU);
fails('quality-details-mismatch', 'the score too high by 2e-9', quality((q) => { q.score += 2e-9; }), MMLU);
fails('quality-details-mismatch', 'the score too low by 2e-9', quality((q) => { q.score -= 2e-9; }), MMLU);
passes('quality-details-mismatch', 'the score off by 5e-10', quality((q) => { q.score += 5e-10; }));
fails('quality-details-mismatch', 'details and score, once',
  quality((q) => { q.details[0] = 1 - q.details[0]; q.score = 5; }), MMLU);
passes('quality-details-mismatch', 'no items', quality((q) => { Object.assign(q,
  { n: 0, outputs: [], details: [], score: 1 }); }));
passes('quality-details-mismatch', 'no outputs',
  quality((q) => { delete q.outputs; q.details[0] = 1 - q.details[0]; q.score = 1; }));
const beyond = (detail, score) => quality((q) => {
  const whole = mmluQuality(100);
  const hits = whole.details.reduce((a, b) => a + b, 0);
  Object.assign(q, whole, { n: 102, outputs: [...whole.outputs, 'A', 'B'],
    details: [...whole.details, detail, detail], score: score(hits) });
});
passes('quality-details-mismatch', 'items beyond the key count as wrong', beyond(0, (hits) => hits / 102));
passes('quality-details-mismatch', 'details beyond the key are not compared', beyond(1, (hits) => hits / 102));
fails('quality-details-mismatch', 'items beyond the key give no hit', beyond(1, (hits) => (hits + 2) / 102), MMLU);

passes('embed-rate-envelope', '2000 texts/s', (run) => durations(batch(run), [16, 16, 16], 32));
fails('embed-rate-envelope', 'above 2000 texts/s', (run) => durations(batch(run), [15.999, 15.999, 15.999], 32),
  BATCH);
fails('embed-rate-envelope', 'two of three', (run) => durations(batch(run), [1, 100, 1], 32), BATCH);
passes('embed-rate-envelope', 'one of three', (run) => durations(batch(run), [1, 100, 100], 32));
passes('embed-rate-envelope', 'no time passed', (run) => durations(batch(run), [0, 0, 0], 32));
fails('embed-rate-envelope', 'iterations without time are left out',
  (run) => durations(batch(run), [0, -1, 1], 32), BATCH);
passes('embed-rate-envelope', 'a cell with quality outputs', (run) => { durations(batch(run), [1, 1, 1],
  32); batch(run).quality = mmluQuality(5); });
fails('embed-rate-envelope', 'a cell with another quality', (run) => { durations(batch(run), [1, 1, 1],
  32); batch(run).quality = { ...sts(run).quality, outputs: ['x'] }; }, BATCH);
passes('embed-latency-implausible', '0.05 ms', (run) => durations(single(run), [0.05, 0.05, 0.05], 1));
fails('embed-latency-implausible', 'below 0.05 ms', (run) => durations(single(run), [0.0499, 0.0499, 0.0499], 1),
  SINGLE);
fails('embed-latency-implausible', 'the first count decides', (run) => { durations(single(run), [0.01, 0.01, 0.01],
  1); single(run).iterations[1].count = 32; }, SINGLE);
passes('embed-latency-implausible', 'a first count of 2', (run) => { durations(single(run), [0.01, 80, 90],
  1); single(run).iterations[0].count = 2; });
passes('embed-latency-implausible', 'no time passed', (run) => durations(single(run), [0, 0, 0], 1));

const device = (vendor, platform) =>
  (run) => { run.environment.gpu.vendor = vendor; run.environment.os.platform = platform; };
for (const [vendor, platform] of [['apple', 'Windows'], ['Apple', 'windows 11'], ['APPLE', 'Microsoft WINDOWS NT']])
  fails('env-cross-field', `${vendor} under ${platform}`, device(vendor, platform));
for (const [vendor, platform] of [['apple', 'macOS'], ['apple', 'Darwin'], ['apple inc.', 'Windows'],
  ['pineapple', 'Windows'], ['', 'Windows']])
  passes('env-cross-field', `${vendor} under ${platform}`, device(vendor, platform));
passes('env-cross-field', 'no vendor under Windows',
  (run) => { delete run.environment.gpu.vendor; run.environment.os.platform = 'Windows'; });

const renderer = (fields, change = () => {}) => (run) => {
  const { webglRenderer = null, ...gpu } = fields;
  run.environment.webglRenderer = webglRenderer;
  run.environment.gpu = { available: true, ...gpu };
  change(run);
};
const software = (name, fields, change) => fails('software-renderer', name, renderer(fields, change), undefined,
  'reject');
const hardware = (name, fields, change) => passes('software-renderer', name, renderer(fields, change));
for (const name of ['SwiftShader', 'llvmpipe', 'softpipe', 'WARP', 'Microsoft Basic Render', 'Parallels', 'VMware',
  'VirtIO', 'VirtualBox']) {
  software(name, { webglRenderer: `ANGLE (${name} 1.0)` });
  software(`${name} in capitals`, { description: name.toUpperCase() });
}
for (const field of ['vendor', 'architecture', 'device', 'description', 'webglRenderer']) software(`in ${field}`,
  { [field]: 'google swiftshader driver' });
hardware('in gpuModel', { vendor: 'intel' }, (run) => { run.environment.gpuModel = 'llvmpipe'; });
for (const value of ['warp', 'a-warp', 'warp,10', '(warp)',
  '\u00e9warp\u00e9']) software(`warp as a word: ${value}`, { device: value });
for (const value of ['warped', 'timewarp', 'warp_1', '_warp', 'warp2', '2warp',
  'w arp']) hardware(`warp in a word: ${value}`, { device: value });
software('a name over two fields', { vendor: 'Microsoft Basic', architecture: '', device: 'Render Driver' });
hardware('a name cut by a field border', { vendor: 'swift', architecture: 'shader' });
hardware('no names at all', {});
const backend = (value) =>
  (run) => { for (const cell of run.cells) if (cell.status === 'ok') cell.resolvedBackend = value; };
const softWarn = (name, change) => fails('software-renderer', name,
  renderer({ vendor: 'mesa', device: 'llvmpipe' }, change), undefined, 'warn');
for (const value of ['webgpu', 'gpu', 'x-webgpu-2', 'webgpu+wasm']) software(`refused on ${value}`,
  { device: 'llvmpipe' }, backend(value));
for (const value of ['wasm', 'GPU', 'WebGPU', 'gpu0', 'unknown', '', 'webgl']) softWarn(`a warning on ${value}`,
  backend(value));
softWarn('a warning when only a cell that is not ok ran on the GPU',
  (run) => { backend('wasm')(run); invalid(run).resolvedBackend = 'webgpu'; });
software('refused when one ok cell ran on the GPU', { device: 'llvmpipe' },
  (run) => { backend('wasm')(run); sts(run).resolvedBackend = 'webgpu'; });

const own = { keepClient: true };
const METRICS = { ttftMs: llm, decodeCharsPerSec: llm, totalMs: llm, overallCharsPerSec: llm,
  singleLatencyMs: single, batchTextsPerSec: batch };
for (const [metric, of] of Object.entries(METRICS)) {
  const scaled = (factor) => (run) => { client(run, of(run))[metric].median *= factor; };
  const cellId = { llm: LLM, single: SINGLE, batch: BATCH }[of.name];
  fails('client-summary-disagrees', `${metric} 1.1 % above`, scaled(1.011), cellId, 'reject', own);
  fails('client-summary-disagrees', `${metric} 1.1 % below`, scaled(0.989), cellId, 'reject', own);
  passes('client-summary-disagrees', `${metric} 0.9 % above`, scaled(1.009), own);
  passes('client-summary-disagrees', `${metric} 0.9 % below`, scaled(0.991), own);
  passes('client-summary-disagrees', `${metric} absent`, (run) => { delete client(run, of(run))[metric]; }, own);
  passes('client-summary-disagrees', `${metric} without a median`,
    (run) => { client(run, of(run))[metric] = { n: 3 }; }, own);
}
const latency = (c) => (run) => {
  durations(single(run), [100, 100, 100], 1);
  client(run, single(run)).singleLatencyMs = { median: c };
};
for (const c of [99, 101]) passes('client-summary-disagrees', `exactly 1 %: ${c} for 100`, latency(c), own);
for (const c of [98.99999, 101.00001, 0, -100]) fails('client-summary-disagrees', `${c} for 100`, latency(c),
  SINGLE, 'reject', own);
for (const metric of ['loadMs', 'generatedChars', 'decodeChunksPerSec', 'prefillTokPerSecApprox'])
  passes('client-summary-disagrees', `${metric} is not compared`, (run) => {
    const summary = client(run, llm(run));
    if (typeof summary[metric] === 'number') summary[metric] *= 2;
    else summary[metric].median *= 2;
  }, own);
passes('client-summary-disagrees', 'an unknown cell',
  (run) => { run.clientSummaries[0].cellId = 'elsewhere'; run.clientSummaries[0].totalMs.median = 1; }, own);
passes('client-summary-disagrees', 'no client summaries', (run) => { delete run.clientSummaries; }, own);
passes('client-summary-disagrees', 'a metric the server does not have',
  (run) => { client(run, single(run)).totalMs = { median: 5 }; }, own);
fails('client-summary-disagrees', 'a cell that is not ok', (run) => { client(run,
  invalid(run)).totalMs.median *= 2; }, INVALID, 'reject', own);
add('client-summary-disagrees: a median of the server of 0 is not compared', [['ttft-implausible', 'reject', LLM]],
  (run) => { ttft(0, 0, 0)(run); run.clientSummaries = recompute(run); client(run, llm(run)).ttftMs.median = 50; },
    own);
add('client-summary-disagrees: one flag for each metric and entry, in their order',
  [...['ttftMs', 'totalMs', 'overallCharsPerSec'].map(() => ['client-summary-disagrees', 'reject', LLM]),
    ['client-summary-disagrees', 'reject', BATCH], ['client-summary-disagrees', 'reject', SINGLE],
      ['client-summary-disagrees', 'reject', SINGLE]],
  (run) => {
    const ofLlm = client(run, llm(run));
    for (const metric of ['overallCharsPerSec', 'totalMs', 'ttftMs']) ofLlm[metric].median *= 3;
    client(run, batch(run)).batchTextsPerSec.median *= 3;
    client(run, single(run)).singleLatencyMs.median *= 3;
    run.clientSummaries = [ofLlm, client(run, batch(run)), client(run, single(run)), client(run, single(run))];
  }, own);

/** Everything an LLM cell can be accused of at once. */
function spoil(cell) {
  cell.load = load(2, 1);
  cell.model.sizeBytes = 4e9;
  cell.iterations = thrice(() => stream({ startT: 1000.25, ttft: 0.5, chunks: 8, c: 3, step: 1, tail: 0 }));
  for (const iteration of cell.iterations) iteration.text = 'short';
}
add('every rule of an LLM cell, in table order',
  [['load-time-reversed', 'reject'], ['text-chunk-mismatch', 'reject'], ['degenerate-generation', 'reject'],
    ['decode-rate-envelope', 'reject'],
    ['overall-rate-envelope', 'reject'], ['ttft-implausible', 'reject'],
      ['timer-grid', 'warn']].map((flag) => [...flag, LLM]),
  (run) => { spoil(llm(run)); run.environment.timerResolutionUs = 1000; });
for (const status of ['invalid', 'error', 'skipped'])
  add(`a cell that is ${status} is not judged`, [], (run) => {
    spoil(llm(run));
    durations(single(run), [0.01], 1);
    durations(batch(run), [0.01], 32);
    mmlu(run).quality.outputs.pop();
    run.environment.timerResolutionUs = 1000;
    for (const cell of run.cells) cell.status = status;
  });
add('flags come as fingerprint, cells in file order, environment, renderer, client',
  [['fingerprint-missing', 'reject'], ['quality-outputs-mismatch', 'reject', MMLU],
    ['embed-rate-envelope', 'reject', BATCH], ['embed-latency-implausible', 'reject', SINGLE],
    ['load-time-reversed', 'reject', LLM], ['env-cross-field', 'reject'], ['software-renderer', 'reject'],
      ['client-summary-disagrees', 'reject', LLM]],
  (run) => {
    run.fingerprint = null;
    device('apple', 'Windows')(run);
    run.environment.webglRenderer = 'llvmpipe';
    mmlu(run).quality.outputs.pop();
    durations(single(run), [0.01], 1);
    durations(batch(run), [0.01], 32);
    llm(run).load = load(2, 1);
    run.cells = [mmlu(run), batch(run), single(run), llm(run)];
    run.clientSummaries = recompute(run);
    client(run, llm(run)).totalMs.median = 1;
  }, own);
add('warnings alone do not quarantine', [['timer-grid', 'warn', LLM], ['software-renderer', 'warn']],
  (run) => { grid({ off: 20 })(run); renderer({ device: 'llvmpipe' })(run); backend('wasm')(run); });

export const RULE_CASES = cases;
