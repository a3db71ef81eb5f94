// Every clause that rule set 3 adds to set 2, as a run that breaks it and runs that just do not.
// A case: {name, mutate(run), flags: [[code, severity, cellId?]...]}: those of set 3's own rules.
import { recompute } from '../bench/baseline.mjs';
import { makeRun } from './run.mjs';

const LLM = 'webllm/smollm2-135m/chat-pp128-tg128';
const SINGLE = 'transformers-wasm/bge-small-en/embed-single';
const MMLU = 'webllm/smollm2-135m/quality-mmlu-25';
const STS = 'transformers-wasm/bge-small-en/quality-sts-20';
const KINDS = ['embed-single', 'embed-batch', 'quality-sts', 'llm', 'quality-mmlu'];

const cell = (run, id) => run.cells.find(({ cellId }) => cellId === id);
const llm = (run) => cell(run, LLM);
const first = (run) => llm(run).iterations[0];

/** What made-up runs measure, as a catalogue file. */
export const CATALOGUE = {
  runtimes: ['transformers-wasm', 'webllm', 'litert'],
  workloads: ['embed-single', 'embed-batch32', 'chat-pp128-tg128', 'chat-pp512-tg128', 'quality-sts-20', 'quality-mmlu-25'],
  models: [{ benchModelId: 'smollm2-135m', displayName: 'SmolLM2 135M', smallestBytes: 81788928 },
    { benchModelId: 'bge-small-en', displayName: 'BGE Small EN' }],
};

/** An honest run of a suite, in the protocol's order and whole. */
export function baseOf3({ mutate }, options = {}) {
  const run = makeRun({ cells: KINDS, ...options });
  mutate(run);
  run.clientSummaries = recompute(run);
  return run;
}

/** An iteration of 4 characters every GAP(i) ms. */
function stream(gap, chunks = 33) {
  const made = [];
  for (let i = 0, t = 1100; i < chunks; t += gap(i), i++) made.push({ t, c: 4 });
  const text = Array.from({ length: chunks }, (_, i) => `w${String(i).padStart(2, '0')} `).join('');
  return { startT: 1000, chunks: made, endT: made.at(-1).t + 1, text, gates: [] };
}
const streamed = (resolution, ...how) => (run) => {
  run.environment.timerResolutionUs = resolution;
  llm(run).iterations[1] = stream(...how);
};
const written = (text) => (run) => {
  const startT = first(run).startT;
  const chunks = [{ t: startT + 90, c: 10 }, { t: startT + 900, c: text.length - 10 }];
  llm(run).iterations[0] = { startT, chunks, endT: startT + 901, text, gates: [] };
};
const seen = (...turns) => (run) => {
  const { startT, endT } = first(run);
  for (const [type, share] of turns) run.events.push({ t: startT + share * (endT - startT), type: `visibility-${type}` });
};
const named = (text, field = 'userReportedDevice') => (run) => {
  const at = field.split('.');
  const object = at.slice(0, -1).reduce((value, key) => (value[key] ??= {}), run.environment);
  object[at.at(-1)] = text;
};
const copied = (run, runtimeId, change = {}) => {
  const { iterations, load, ...rest } = structuredClone(llm(run));
  run.cells.push({ ...rest, cellId: `${runtimeId}/${rest.workloadId}/copy`, runtimeId, status: 'skipped', iterations: [],
    load: null, ...change });
};

const warn = (code, cellId) => [[code, 'warn', ...(cellId === undefined ? [] : [cellId])]];
const fails = (code, cellId, cases) => Object.entries(cases).map(([name, mutate]) =>
  ({ name: `${code}: ${name}`, mutate, flags: warn(code, cellId) }));
const passes = (code, cases) => Object.entries(cases).map(([name, mutate]) => ({ name: `not ${code}: ${name}`, mutate, flags: [] }));

export const RULE_CASES_3 = [
  { name: 'an honest run', mutate() {}, flags: [] },
  ...fails('few-iterations', LLM, { 'two generations': (run) => { llm(run).iterations.length = 2; } }),
  ...fails('few-iterations', SINGLE, { 'one embedding': (run) => { cell(run, SINGLE).iterations.length = 1; } }),
  ...passes('few-iterations', { 'a cell that is not ok': (run) => {
    llm(run).iterations.length = 1;
    llm(run).status = 'invalid';
  } }),
  ...fails('trace-regular', LLM, {
    'equal gaps': streamed(5, () => 14),
    'equal gaps, no known resolution': streamed(null, () => 14),
    'gaps of one step more or less': streamed(100, (i) => (i % 2 ? 10.1 : 10.2)),
    'a deviation just below 0.2 %': streamed(5, (i) => 14 * (1 + (i % 2 ? 0.0019 : -0.0019))),
  }),
  ...passes('trace-regular', {
    'a deviation just above 0.2 %': streamed(5, (i) => 14 * (1 + (i % 2 ? 0.0021 : -0.0021))),
    'one gap too few': streamed(5, () => 14, 32),
    'a timer too coarse to tell': streamed(1000, () => 14),
    'a stutter': streamed(5, (i) => (i === 7 ? 15 : 14)),
    'all at once': streamed(5, () => 0),
  }),
  ...fails('text-repeated', LLM, {
    'one character': written('!'.repeat(64)),
    'one word': written('so '.repeat(30)),
    'a piece of 32 bytes, cut': written('0123456789abcdefghijklmnopqrstuv'.repeat(3).slice(0, 90)),
  }),
  ...passes('text-repeated', {
    'shorter than 64': written('!'.repeat(63)),
    'a piece of 33 bytes': written('0123456789abcdefghijklmnopqrstuvw'.repeat(3)),
    'something before it': written(`Well: ${'!'.repeat(90)}`),
  }),
  ...fails('gated-cell', LLM, { 'a gate': (run) => { first(run).gates = ['pressure-critical']; } }),
  ...passes('gated-cell', { 'of an invalid cell': (run) => {
    first(run).gates = ['hidden'];
    llm(run).status = 'invalid';
  } }),
  ...fails('parse-rate-mismatch', MMLU, {
    'less than the outputs give': (run) => { cell(run, MMLU).quality.parseRate = 0.96; },
    'an output without an answer': (run) => {
      const { quality } = cell(run, MMLU);
      const wrong = quality.details.indexOf(0);
      quality.outputs[wrong] = 'I do not know.';
    },
  }),
  ...passes('parse-rate-mismatch', {
    'an output without an answer, counted': (run) => {
      const { quality } = cell(run, MMLU);
      quality.outputs[quality.details.indexOf(0)] = 'I do not know.';
      quality.parseRate = 0.96;
    },
    'no parse rate': (run) => { delete cell(run, MMLU).quality.parseRate; },
  }),
  ...fails('spearman-range', STS, {
    above: (run) => { cell(run, STS).quality.score = 1.0001; },
    below: (run) => { cell(run, STS).quality.score = -1.0001; },
  }),
  ...passes('spearman-range', {
    'the highest': (run) => { cell(run, STS).quality.score = 1; },
    'the lowest': (run) => { cell(run, STS).quality.score = -1; },
  }),
  ...fails('value-out-of-range', STS, {
    'a negative n': (run) => { cell(run, STS).quality.n = -20; },
    'a broken n': (run) => { cell(run, STS).quality.n = 19.5; },
    'a parse rate above 1': (run) => { cell(run, STS).quality.parseRate = 1.5; },
  }),
  ...fails('value-out-of-range', SINGLE, {
    'no size': (run) => { cell(run, SINGLE).model.sizeBytes = 0; },
    'a negative count': (run) => { cell(run, SINGLE).iterations[2].count = -1; },
    'a span that goes back': (run) => { cell(run, SINGLE).iterations[1].endT = 0; },
    'a span beyond every number': (run) => {
      Object.assign(cell(run, SINGLE).load, { startT: -1.7e308, endT: 1.7e308 });
    },
  }),
  { name: 'a score of a quiz above 1', mutate(run) { cell(run, MMLU).quality.score = 1.2; },
    flags: warn('value-out-of-range', MMLU) },
  ...fails('hidden-page', LLM, {
    'within an iteration': seen(['hidden', 0.2], ['visible', 0.4]),
    'over its end': seen(['hidden', 0.9], ['visible', 1.1]),
    'since before it, in any order of events': seen(['visible', 0.01], ['hidden', -0.05]),
    'hidden again, at the time at which it was seen': seen(['hidden', -0.1], ['visible', -0.05], ['hidden', -0.05]),
    'hidden again': seen(['hidden', -0.04], ['visible', -0.03], ['visible', -0.02], ['hidden', 0.5], ['hidden', 0.6], ['visible', 0.7]),
  }),
  ...passes('hidden-page', {
    'only visible': seen(['visible', 0.5]),
    'between two cells': (run) => {
      const { startT } = llm(run).load;
      run.events.push({ t: startT + 1, type: 'visibility-hidden' }, { t: startT + 9, type: 'visibility-visible' });
    },
    'up to the start': seen(['hidden', -0.05], ['visible', 0]),
    'during an invalid cell': (run) => {
      seen(['hidden', 0.2], ['visible', 0.4])(run);
      llm(run).status = 'invalid';
    },
  }),
  { name: 'runtime-order: turned round', mutate(run) { run.cells.reverse(); }, flags: warn('runtime-order', STS) },
  ...fails('runtime-order', 'mediapipe/x/copy', { 'behind wllama': (run) => {
    copied(run, 'wllama', { cellId: 'a', workloadId: 'x' });
    copied(run, 'mediapipe', { workloadId: 'x', cellId: 'mediapipe/x/copy', model: { ...llm(run).model, benchModelId: 'm' } });
    run.suite = 'custom';
  } }),
  ...passes('runtime-order', {
    'one that the protocol does not name': (run) => {
      copied(run, 'aaa-runtime', { cellId: 'a' });
      copied(run, 'wllama', { cellId: 'b' });
      run.suite = 'custom';
    },
    'a runtime again in its place': (run) => {
      copied(run, 'webllm', { cellId: 'a' });
      run.suite = 'custom';
    },
  }),
  ...fails('suite-incomplete', undefined, {
    'a runtime without the quiz': (run) => copied(run, 'wllama'),
    'of the largest suite': (run) => {
      run.suite = 'thorough';
      copied(run, 'wllama', { workloadId: 'chat-pp512-tg128' });
    },
  }),
  ...passes('suite-incomplete', {
    'a custom one': (run) => {
      copied(run, 'wllama');
      run.suite = 'custom';
    },
    'another model': (run) => copied(run, 'wllama', { model: { ...llm(run).model, benchModelId: 'other' } }),
    'both workloads, skipped': (run) => {
      copied(run, 'wllama', { cellId: 'a' });
      copied(run, 'wllama', { cellId: 'b', workloadId: 'quality-mmlu-25' });
    },
  }),
  ...fails('environment-unknown-field', undefined, {
    'of the environment': (run) => { run.environment.installedFonts = ['A']; },
    'of an object in it': (run) => { run.environment.os.hostName = 'a'; },
    'with a name that markup is made of': (run) => { run.environment.gpu['<b>\u0000'.repeat(40)] = 1; },
  }),
  ...passes('environment-unknown-field', {
    'what runners on record write': (run) => {
      Object.assign(run.environment, { apis: { any: true }, pageOrigin: 'https://runner.example', visibilityState: 'visible' });
    },
  }),
  ...fails('identifier-like-text', undefined, {
    'an e-mail address': named('phone of anna.b@mail.example.org'),
    'a UUID': named('Box 123e4567-e89b-12d3-a456-426614174000'),
    'a MAC address': named('AA:bb:cc:dd:ee:01'),
    'a folder': named('C:\\Users\\anna'),
    'an owner': named("Anna's laptop"),
    'an owner with a typographer': named('Anna\u2019s laptop'),
    'an owner with a space that does not break': named('Anna\u2019s\u00a0laptop'),
    'a serial number of capitals': named('MacBook C02XK0AAJG5J'),
    'a serial number in hexadecimal': named('model 00a1b2c3d4e5', 'os.model'),
    'a number of a phone': named('IMEI 356938035643809', 'userReportedHardware.gpu'),
    'in a renderer': named('ANGLE (driver of bob@example.org)', 'webglRenderer'),
  }),
  ...passes('identifier-like-text', Object.fromEntries(['SM-G986U1', 'NVIDIA GeForce RTX 3080 (0x00002216) Direct3D11 vs_5_0',
    'Mesa Intel(R) Arc(tm) Graphics (MTL)', '23049PCD8G', 'C02XK0AAJG5', 'me @ home', 'a@b', 'Home office', 'users', '1234567890123',
    'AA:bb:cc:dd:ee', '123e4567-e89b-12d3-a456', 'Bells', "the '90s laptop", "Anna's", 'Chromebooks 1234'].map((text) => [text, named(text)]))),
];
