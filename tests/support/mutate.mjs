// Random changes of run files, for the differential tests. `value` changes keep the types, so that most
// results are still run files and reach statistics, rules, scrub and entry; `shape` changes do not.
import { canonical, checkShape, recompute, sha256 } from '../bench/baseline.mjs';
import { CELL_KINDS, makeRun } from './run.mjs';
import { completeRun } from './shape_cases.mjs';

const EMOJI = '\u{1F600}';
const TEXTS = ['', ' ', 'x', 'A', '0', '\0', '\u00e9', EMOJI, '\ud83d', '\ude00', '\u202e', '\ufeff', '\u0085',
  '\u2028', 'x'.repeat(64), 'x'.repeat(201), '__proto__', '\u0130stanbul \u1e9e', 'A\u03a3'];
const NUMBERS = [0, -0, 1, -1, 0.5, 2, 3, 4, 100, 1e-9, 1e21, 1e300, -1e300, 5e-324, 1.7976931348623157e308,
  9007199254740993, 0.1, 1000, 100000, 2.5e9];
const OTHERS = [null, true, false, 'text', 7, [], {}, [1], { a: 1 }, '', 0, [[]], -1.5, 'null'];
const OUTPUTS = ['A', 'B.', '(C)', 'answer: D', 'The Answer is (B).', '<think>A</think> C',
  '<THINK>\nB.\n</Think>\nD!', '<think>open A', 'a)', 'd', 'b.', '**A**', '`C`', '_B_,', 'Answer-A', 'Option: C',
  'choice C', 'Choice is C',
  'Answer is: A', 'Answer\u00a0is\ufeff:\u3000D', 'Answer\u0085A', 'ABCD', 'E', '', '  ', '(a', 'A)B', 'A))',
    '(A))', 'Answer: (A)x Answer B ', 'Answeris:A', 'ANSWER - - A', 'nothing here', 'x<think>y</think>z</think>',
    '<think><think>A</think>B', 'AnswerAnswer: C', 'Answer:\n\n\tD\n', 'OptionA', 'A\u2028', 'A\u0085',
    'Answer is is A', 'Answer is- A.'];
const PLATFORMS = ['Windows', 'windows 11', 'macOS', 'Chrome OS', ' My\u00a0\t OS ', '\u0130OS', 'a/b', '',
  'WINDOWS', 'Linux'];
const VENDORS = ['apple', 'Apple', 'nvidia', '', 'google', 'VMware, Inc.', 'intel', 'Qualcomm/Adreno'];
const MODELS = ['Adreno (TM) 650', 'Mesa Intel(R) Arc(tm) Graphics (MTL)', 'Mesa (R) 5', 'mesa5', 'Mesa\u00a0X5',
  '(tm) Mesa 1', '  M2 Pro ', 'GeForce GTX 980, or Similar', '---1---', '\u0661', '\u00e9\u00e8 9', '1',
  '(C)(R)(TM) 2', '\u212aelvin 3', 'a_b.c 4'];
const RENDERERS = ['ANGLE (Google, Vulkan 1.3 (SwiftShader Device))', 'llvmpipe (LLVM 15)',
  'Microsoft Basic Render Driver', 'warp', 'warped 1', '\u00e9warp', 'Parallels', 'virtio_gpu', 'NVIDIA', '',
  'microsoft basic', 'render'];

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/** A random place in the tree: {parent, key}; deep arrays of chunks do not drown the rest. */
function place(random, root) {
  let parent = root;
  for (;;) {
    const keys = Object.keys(parent);
    if (keys.length === 0) return { parent, key: Array.isArray(parent) ? 0 : 'new' };
    const key = random.pick(keys);
    const value = parent[key];
    if (value === null || typeof value !== 'object' || random.chance(0.25)) return { parent, key };
    parent = value;
  }
}

const ulp = new DataView(new ArrayBuffer(8));
function neighbour(x, step) {
  ulp.setFloat64(0, x);
  ulp.setBigInt64(0, ulp.getBigInt64(0) + BigInt(step));
  const near = ulp.getFloat64(0);
  return Number.isFinite(near) ? near : x;
}

function perturb(random, x) {
  const near = random.pick([
    () => neighbour(x, random.pick([1, -1])), () => x * 1.01, () => x * 0.99, () => x * 1000, () => x / 1000,
      () => -x, () => x + 1, () => x - 1,
    () => Math.round(x), () => random.pick(NUMBERS), () => random.bits() / 1000,
  ])();
  return Number.isFinite(near) ? near : x;
}

function reword(random, text) {
  const at = random.below(text.length + 1);
  return random.pick([
    () => text.slice(0, at), () => text.slice(at), () => text.slice(0, at) + random.pick(TEXTS) + text.slice(at),
      () => random.pick(TEXTS), () => text + text,
    () => text.toUpperCase(), () => text.toLowerCase(), () => ` ${text}\u00a0`,
  ])();
}

function shuffle(random, list) {
  for (let i = list.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

function reorder(random, object) {
  const members = shuffle(random, Object.entries(object));
  for (const [key] of members) delete object[key];
  for (const [key, value] of members) object[key] = value;
}

const anyCell = (random, run) => random.pick(run.cells);
const withIterations = (random, run) => random.pick(run.cells.filter(({ iterations }) => iterations.length > 0));

/** Changes that keep a run file a run file, aimed at what is read. */
const VALUE_CHANGES = [
  (random, run) => {
    const { parent, key } = place(random, run);
    if (typeof parent[key] === 'number') parent[key] = perturb(random, parent[key]);
    else if (typeof parent[key] === 'string') parent[key] = reword(random, parent[key]);
    else if (typeof parent[key] === 'boolean') parent[key] = !parent[key];
    else if (isObject(parent[key])) reorder(random, parent[key]);
  },
  (random, run) => {
    const { parent, key } = place(random, withIterations(random, run).iterations);
    if (typeof parent[key] === 'number') parent[key] = perturb(random, parent[key]);
    else if (Array.isArray(parent[key]) && parent[key].length > 1) shuffle(random, parent[key]);
  },
  (random, run) => { const { iterations } = withIterations(random,
    run); iterations.splice(random.below(iterations.length), 1); },
  (random, run) => { const { iterations } = withIterations(random,
    run); for (let n = random.below(40); n >= 0; n--) iterations.push(structuredClone(random.pick(iterations))); },
  (random, run) => { for (const iteration of withIterations(random,
    run).iterations) if (iteration.chunks) iteration.chunks = iteration.chunks.filter(() => random.chance(0.8)); },
  (random, run) => { for (const iteration of withIterations(random,
    run).iterations) for (const chunk of iteration.chunks
    ?? []) if (random.chance(0.5)) chunk.c = random.below(3); },
  (random, run) => { for (const iteration of withIterations(random,
    run).iterations) iteration.endT = iteration.startT + random.below(4000) / 100 - 1; },
  (random, run) => {
    const scale = random.pick([0.001, 0.01, 0.1, 10]);
    for (const iteration of withIterations(random, run).iterations) {
      for (const key of ['startT', 'endT']) iteration[key] *= scale;
      for (const chunk of iteration.chunks ?? []) chunk.t *= scale;
    }
  },
  (random, run) => { for (const iteration of withIterations(random,
    run).iterations) if (iteration.chunks) iteration.text = 'y'.repeat(iteration.chunks.reduce((sum, { c }) =>
    sum + Math.min(c, 900), 0) % 19000); },
  (random, run) => { anyCell(random, run).status = random.pick(['ok', 'ok', 'invalid', 'error', 'skipped']); },
  (random, run) => { anyCell(random, run).resolvedBackend = random.pick(['webgpu', 'wasm', 'gpu', 'WebGPU',
    'x-webgpu']); },
  (random, run) => { anyCell(random, run).workloadId = random.pick(['chat-pp128-tg128', 'chat-pp512-tg128', 'chat',
    '']); },
  (random, run) => { anyCell(random, run).load = random.pick([null, { startT: 5, endT: 4 },
    { cached: true, startT: 0.1, endT: 0.3 }, { startT: 0, endT: 0, cached: false }]); },
  (random, run) => { const { model } = anyCell(random, run); model.sizeBytes = random.pick([0, 5e8, 5e8 + 1, 1e9,
    1e9 + 1, 2e9, 3e9]); if (random.chance(0.2)) delete model.sizeBytes; },
  (random, run) => {
    const cell = random.pick(run.cells.filter(({ quality }) => quality?.outputs) );
    if (!cell) return;
    for (const i of cell.quality.outputs.keys()) if (random.chance(0.4)) cell.quality.outputs[i] = random.chance(0.2) ? reword(random, random.pick(OUTPUTS)) : random.pick(OUTPUTS);
    if (random.chance(0.1)) cell.quality.details.pop();
    if (random.chance(0.1)) cell.quality.n += 1;
  },
  (random, run) => { anyCell(random, run).quality = { taskId: random.pick(['tinymmlu', 'tinymmlu-9', 'sts',
    'Tinymmlu']), score: random.pick([0, 0.5, 1]), n: 2, outputs: [random.pick(OUTPUTS), random.pick(OUTPUTS)],
    details: [random.below(2), random.below(2)] }; },
  (random, run) => shuffle(random, run.cells),
  (random,
    run) => { const { environment: env } = run; env.gpu.vendor = random.pick(VENDORS); env.os.platform = random.pick(PLATFORMS); },
  (random,
    run) => { const { environment: env } = run; if (random.chance(0.5)) env.gpu.device = random.pick(RENDERERS); env.webglRenderer = random.pick([null, ...RENDERERS]); if (random.chance(0.3)) delete env.gpu.vendor; if (random.chance(0.3)) env.gpu.description = random.pick(RENDERERS); },
  (random,
    run) => { run.environment.gpuModel = random.pick(MODELS); if (random.chance(0.2)) run.environment.gpu.available = !run.environment.gpu.available; if (random.chance(0.2)) delete run.environment.gpu.architecture; },
  (random, run) => { run.environment.timerResolutionUs = random.pick([null, 3, 4, 5, 20, 100, 1000, 16666.7]); },
  (random, run) => { run.fingerprint = random.pick([null, { mflops: random.pick([0, 1, 1.5, 1e5, 100001]),
    checksum: random.pick([null, 0, 5]) }, { ...run.fingerprint, mflops: 77 }, undefined]) ?? null; },
  // What the scrub takes away or rounds.
  (random, run) => { run.environment.locale = { timeZone: 'Europe/Vienna', locale: 'de',
    timeZoneOffsetMinutes: -60, calendar: 'gregory' }; if (random.chance(0.5)) run.environment.languages = ['de',
    'en']; },
  (random, run) => { run.environment.power = { charging: false,
    level: random.pick([0, 1, 0.5, 0.125, 0.375, 0.3749999, 0.62, 0.87, 0.99, -0.1, 7.3]), chargingTimeSec: null,
    dischargingTimeSec: 5000 }; if (random.chance(0.5)) delete run.environment.power.chargingTimeSec; },
  (random, run) => { run.environment.display = { prefersColorScheme: 'dark', width: 5,
    prefersReducedMotion: false }; },
  (random, run) => { run.environment.userReportedHardware = { gpu: random.pick(['  RTX   3060\u00a0 ',
    'RTX\u30003060', 'a', `${EMOJI} `.repeat(15), ' x'.repeat(40), `  ${'y'.repeat(64)}`]),
    ramGB: random.pick([null, 8]), chassis: 'laptop' }; },
  (random,
    run) => { run.schemaVersion = random.pick([1, 2,
    3]); run.protocol = `localmode-bench/${random.pick([1, 4, 5, 12])}`; },
  (random,
    run) => { if (random.chance(0.5)) delete run.scrubbedAt; else run.scrubbedAt = '2026-01-01T00:00:00.000Z'; },
  (random, run) => { run.createdAt = random.pick(['2026-01-01T00:30:00+01:00', '2026-12-31T23:30:00.5-01:00',
    '2026-02-28T23:59:59.999Z', '2024-02-29T12:00:00Z', '2026-03-01T00:00:00.0000001+00:01']); },
  (random, run) => { run[random.pick(['extra', '12', '3', '\ud83d', '\u0000', EMOJI,
    '\uffff'])] = structuredClone(random.pick([run.events, 'x', null, run.harness, [[], {}]])); },
  (random,
    run) => { const list = run.clientSummaries; if (list?.length) list.push(structuredClone(random.pick(list))); },
  (random, run) => reorder(random, random.pick([run, run.harness, run.environment, anyCell(random, run)])),
];

/** Changes that may break anything. */
const SHAPE_CHANGES = [
  (random,
    run) => { const { parent, key } = place(random, run); if (Array.isArray(parent)) parent.splice(Number(key),
    1); else delete parent[key]; },
  (random,
    run) => { const { parent, key } = place(random, run); parent[key] = structuredClone(random.pick(OTHERS)); },
  (random,
    run) => { const { parent, key } = place(random, run); if (Array.isArray(parent)) parent.splice(Number(key), 0,
    structuredClone(parent[key] ?? null)); else parent[`${key}2`] = parent[key]; },
  (random, run) => { const one = place(random, run), other = place(random,
    run); const value = structuredClone(one.parent[one.key]); one.parent[one.key] = structuredClone(other.parent[other.key] ?? null); other.parent[other.key] = value ?? null; },
  (random,
    run) => { const { parent, key } = place(random,
    run); parent[key] = typeof parent[key] === 'number' ? random.pick(NUMBERS) : random.pick(TEXTS); },
  (random,
    run) => { const { parent, key } = place(random,
    run); if (isObject(parent[key])) parent[key] = Object.values(parent[key]); else if (Array.isArray(parent[key])) parent[key] = { ...parent[key] }; },
];

const escaped = (text) => [...Array(text.length).keys()].map((i) =>
  `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');

/** Changes of the text: what a browser would not write, JSON or not. */
const TEXT_CHANGES = [
  (random, text) => `\ufeff${text}`,
  (random, text) => JSON.stringify(JSON.parse(text), null, random.pick([1, '\t'])),
  (random, text) => text.replace(/"([a-zA-Z]{2,20})"/g, (whole, word) =>
    (random.chance(0.1) ? `"${escaped(word)}"` : whole)),
  (random, text) => text.replace(/("[a-zA-Z]{2,20}":)(\d+|true|false|null|"[a-z0-9 ]*")/g,
    (whole, key, value) => (random.chance(0.05) ? `${key}[1,{"x":2}],${key}${value}` : whole)),
  (random, text) => text.replace(/:(\d+)([,}])/g, (whole, number, after) =>
    (random.chance(0.1) ? `:${number}${random.pick(['.0', 'e0', '.000', 'E+0', '0e-1'])}${after}` : whole)),
  (random, text) => { const at = random.below(text.length); return text.slice(0,
    at) + random.pick(['', '"', '{', '}', '[', ']', ',', ':', '\\', '1', 'e', '-', '\0', ' ', '\ud83d',
    '\n']) + text.slice(at + random.below(2)); },
  (random, text) => text.slice(0, random.below(text.length)),
];

function seal(random, run) {
  delete run.digest;
  delete run.nonce;
  const dice = random.below(20);
  if (dice < 5) run.nonce = 'dev.1760000000000.abcdef';
  if (dice === 0) run.digest = sha256(canonical(run, ['digest'])); // the older rule
  else if (dice === 6) run.digest = '0'.repeat(64);
  else if (dice !== 7) run.digest = sha256(canonical(run, ['digest', 'nonce']));
  if (dice > 14) reorder(random, run);
}

/** The bytes of one mutated file; ORIGINALS are texts of real runs, made-up ones come besides. */
export function mutatedFile(random, originals) {
  let run;
  if (originals.length > 0 && random.chance(0.1)) run = JSON.parse(random.pick(originals));
  else if (random.chance(0.3)) run = completeRun(random.bits());
  else run = makeRun({ seed: random.bits(), chunks: random.pick([1, 2, 3, 12, 25]),
    iterations: random.pick([1, 2, 3, 5]), chunkMs: random.pick([0, 1, 14]),
    cells: shuffle(random, [...CELL_KINDS]).slice(random.below(CELL_KINDS.length)) });
  const soft = random.chance(0.6);
  for (let n = random.below(6); n >= 0; n--) {
    try {
      random.pick(soft || n > 0 ? VALUE_CHANGES : SHAPE_CHANGES)(random, run);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // an earlier change took what this one needs
    }
  }
  if (random.chance(0.6)
    && checkShape(run, { anyProtocol: true }).length === 0) run.clientSummaries = recompute(run);
  seal(random, run);
  let text = JSON.stringify(run);
  if (random.chance(0.15)) {
    try {
      text = random.pick(TEXT_CHANGES)(random, text);
    } catch { /* no JSON any more */ }
  }
  const bytes = Buffer.from(text);
  if (random.chance(0.01)) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}
