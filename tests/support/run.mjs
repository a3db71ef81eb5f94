// Made-up run files: deterministic, valid by spec 02, publishable without a flag. Tests change them to
// make one rule or check fail; `seal` puts nonce and digest in last.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { recompute } from '../bench/baseline.mjs';

const KEY_FILE = new URL('../../server/data/tinymmlu-key.json', import.meta.url);
const WORDS = ('the model writes one plain sentence after another so that a stream of words has ' +
  'something to carry while its timing is measured by a page that nobody else looks at').split(' ');

export const sha256 = (data) => createHash('sha256').update(data).digest('hex');

/** Canonical JSON (spec 01): keys sorted by UTF-16 code units at every level. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value && typeof value === 'object') {
    const keys = Object.keys(value).filter((key) => value[key] !== undefined).sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

/** The digest of a run: without `digest` and `nonce`. `legacy`: the older rule covers the nonce. */
export function digestOf(run, { legacy = false } = {}) {
  const { digest, nonce, ...rest } = run;
  return sha256(canonical(legacy && nonce !== undefined ? { ...rest, nonce } : rest));
}

/** A copy with NONCE (undefined: none) and the right digest as its last keys. */
export function seal(run, nonce, options) {
  const { digest, nonce: old, ...rest } = structuredClone(run);
  const sealed = nonce === undefined ? rest : { ...rest, nonce };
  sealed.digest = digestOf(sealed, options);
  return sealed;
}

function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Clocks of a page: times on a grid of 0.1 ms, or of 5 us with the 16 and 17 digits that real files have. */
const CLOCKS = {
  coarse: { timerResolutionUs: 100, tick: (ms) => Math.round(ms * 10) / 10 },
  fine: { timerResolutionUs: 5, tick: (ms) => Math.round(ms * 200) / 200 + 98765432.1 - 98765432.1 },
};

/** One clock for the whole run: every cell begins where the last one ended. */
class Timeline {
  constructor(random, tick) {
    this.now = 5000;
    this.random = random;
    this.tick = tick;
  }
  pass(ms, jitter = 0.1) {
    this.now = this.tick(this.now + ms * (1 + (this.random() - 0.5) * jitter));
    return this.now;
  }
}

function loadOf(time, { cached = false } = {}) {
  const startT = time.pass(50);
  const first = time.pass(200);
  const last = time.pass(cached ? 300 : 2500);
  return {
    cached, startT, endT: time.pass(20),
    progress: [{ t: first, pct: 0 }, { t: last, pct: 100 }], declaredBytes: 81788928,
  };
}

function streamOf(time, chunkCount, chunkMs) {
  const startT = time.pass(5);
  time.pass(80);
  const chunks = [];
  let text = '';
  for (let i = 0; i < chunkCount; i++) {
    const word = `${WORDS[Math.floor(time.random() * WORDS.length)]} `;
    text += word;
    chunks.push({ t: time.pass(chunkMs, 0.2), c: word.length });
  }
  return {
    startT, chunks, endT: time.pass(2), text,
    providerUsage: { inputTokens: 128, outputTokens: chunkCount, fidelity: 'chunk-count' },
    finishReason: 'length', gates: [],
  };
}

function burstOf(time) {
  const startT = time.pass(5);
  time.pass(1500);
  const chunks = [{ t: time.pass(1), c: 0 }, { t: time.pass(1), c: 300 }, { t: time.pass(1), c: 25 }];
  return { startT, chunks, endT: time.pass(2), text: 'so '.repeat(109).slice(0, 325), gates: [] };
}

const LLM_MODEL = {
  benchModelId: 'smollm2-135m', runtimeId: 'webllm',
  providerModelId: 'SmolLM2-135M-Instruct-q0f16-MLC', displayName: 'SmolLM2 135M (MLC q0f16)',
  task: 'llm', quantization: 'q0f16', sizeBytes: 81788928,
};
const EMBED_MODEL = {
  benchModelId: 'bge-small-en', runtimeId: 'transformers-wasm',
  providerModelId: 'Xenova/bge-small-en-v1.5', displayName: 'BGE Small EN (ONNX, WASM)',
  task: 'embedding', quantization: 'q8',
};

function cellOf(runtimeId, model, workloadId, workloadKind, resolvedBackend, rest) {
  const { load = null, iterations = [], status = 'ok', ...more } = rest;
  return {
    cellId: `${runtimeId}/${model.benchModelId}/${workloadId}`, runtimeId, runtimeVersion: '4.2.0',
    model: { ...model, runtimeId }, workloadId, workloadKind, resolvedBackend, load, iterations,
    status, ...more,
  };
}

function embedIterations(time, { count, ms, iterations }) {
  return Array.from({ length: iterations }, () => {
    const startT = time.pass(1);
    return { startT, endT: time.pass(ms), count, dimensions: 384, gates: [] };
  });
}

/** Letters for the first N items of the key, with the details that their re-parsing gives. */
export function mmluQuality(n, letterOf = (i) => 'ABCD'[i % 4]) {
  const { items } = JSON.parse(readFileSync(KEY_FILE, 'utf8'));
  const outputs = Array.from({ length: n }, (_, i) => `Answer: ${letterOf(i)}`);
  const details = outputs.map((_, i) => (items[i].answer === 'ABCD'.indexOf(letterOf(i)) ? 1 : 0));
  return {
    taskId: `tinymmlu-${n}`, score: details.reduce((a, b) => a + b, 0) / n, n, details, outputs,
    parseRate: 1,
  };
}

const CELLS = {
  llm: (time, o) => cellOf('webllm', LLM_MODEL, 'chat-pp128-tg128', 'llm-generate', 'webgpu', {
    load: loadOf(time), warmupMs: 812.4,
    iterations: Array.from({ length: o.iterations },
      () => streamOf(time, o.chunks, o.chunkMs)),
    memory: { api: 'uaSpecific', baseline: 18560188, postLoad: 101143269, postRun: 109796794 },
  }),
  'embed-single': (time, o) => cellOf('transformers-wasm', EMBED_MODEL, 'embed-single',
    'embed-single', 'wasm', {
      load: loadOf(time, { cached: true }), warmupMs: 1374.9,
      iterations: embedIterations(time, { count: 1, ms: o.embedMs, iterations: o.iterations }),
      runtimeConfig: { device: 'wasm', worker: true },
    }),
  'embed-batch': (time, o) => cellOf('transformers-wasm', EMBED_MODEL, 'embed-batch32',
    'embed-batch', 'wasm', {
      iterations: embedIterations(time, { count: 32, ms: o.embedMs * 20, iterations: o.iterations }),
      runtimeConfig: { device: 'wasm', worker: true },
    }),
  'quality-mmlu': () => cellOf('webllm', LLM_MODEL, 'quality-mmlu-25', 'quality-mmlu', 'webgpu',
    { quality: mmluQuality(25) }),
  'quality-sts': (time) => cellOf('transformers-wasm', EMBED_MODEL, 'quality-sts-20', 'quality-sts',
    'wasm', {
      quality: {
        taskId: 'stsb-20', score: 0.91, n: 20,
        details: Array.from({ length: 20 }, () => Math.round(time.random() * 1e4) / 1e4),
      },
    }),
  // All text arrives in the last moment, as from a runtime that does not stream.
  'llm-burst': (time, o) => cellOf('litert', LLM_MODEL, 'chat-pp512-tg128', 'llm-generate', 'wasm', {
    load: loadOf(time), iterations: Array.from({ length: o.iterations }, () => burstOf(time)),
  }),
  // Measured, but the client itself found the output degenerate.
  invalid: (time, o) => cellOf('webllm-f32', LLM_MODEL, 'chat-pp128-tg128', 'llm-generate', 'webgpu', {
    status: 'invalid', load: loadOf(time), warmupMs: 95.2,
    invalidReasons: ['degenerate output: fewer than 16 generated chars in a timed iteration'],
    iterations: Array.from({ length: o.iterations }, () => {
      const startT = time.pass(5);
      return { startT, chunks: [], endT: time.pass(900), text: '', gates: ['degenerate-output'] };
    }),
  }),
  skipped: () => cellOf('wllama', LLM_MODEL, 'chat-pp128-tg128', 'llm-generate', 'unknown',
    { status: 'skipped', invalidReasons: ['runtime unavailable: no threads'] }),
  error: (time) => cellOf('wllama-webgpu', LLM_MODEL, 'chat-pp512-tg128', 'llm-generate', 'unknown', {
    status: 'error', load: { cached: true, startT: time.pass(10), endT: time.pass(300) },
    error: { name: 'ModelLoadError', message: 'Failed to load model', cause: '(ABORT)',
      causeName: 'RuntimeError', causeStack: '    wasm-func[866] (__wrap_abort)' },
    attempts: [{ at: time.now, error: { name: 'AbortError', message: 'device lost' } }],
  }),
};
export const CELL_KINDS = Object.keys(CELLS);
const USUAL_KINDS = CELL_KINDS.filter((kind) => !['llm-burst', 'invalid'].includes(kind));

/**
 * A run file without nonce and digest.
 * id, seed: equal arguments give equal files. cells: kinds of CELL_KINDS. pad: bytes of padding in a
 * field that nobody reads, to reach a size. Client summaries are those of the baseline. clock: `coarse`
 * or `fine`.
 */
export function makeRun({
  id, seed = 1, createdAt = '2026-01-15T12:00:00.000Z', protocol = 'localmode-bench/5',
  schemaVersion = 3, suite = 'quick', cells = USUAL_KINDS, iterations = 3, chunks = 40, chunkMs = 14,
  embedMs = 55, platform = 'Linux', browser = 'Chrome', gpuVendor = 'nvidia',
  gpuModel = 'NVIDIA GeForce RTX 3060', pad = 0, clock = 'coarse',
} = {}) {
  const random = generator(seed);
  const time = new Timeline(random, CLOCKS[clock].tick);
  const options = { iterations, chunks, chunkMs, embedMs };
  const made = cells.map((kind) => CELLS[kind](time, options));
  const run = {
    protocol, schemaVersion, runId: id ?? `made-up-run-${String(seed).padStart(6, '0')}`, createdAt,
    harness: {
      name: '@localmode/bench', version: '0.6.0', appVersion: 'example.org',
      runtimeVersions: { '@localmode/webllm': '2.2.0', '@localmode/transformers': '4.1.2' },
    },
    suite,
    environment: {
      browser: { name: browser, version: '141.0', engine: 'Blink', webdriver: false },
      os: { platform, version: '6.1', architecture: 'x86_64' },
      hardware: { cores: 8, coresClamped: false, deviceMemoryGB: 8, deviceMemoryCapped: true,
        jsHeapSizeLimitBytes: 4294705152 },
      gpu: { available: true, vendor: gpuVendor, architecture: 'ampere', isFallbackAdapter: false },
      webglRenderer: `ANGLE (${gpuModel})`, gpuModel,
      flags: { crossOriginIsolated: true }, device: { type: 'desktop' },
      storage: { quotaBytes: 10737418240 }, power: { charging: true }, timerResolutionUs: CLOCKS[clock].timerResolutionUs,
      screen: { width: 1920, height: 1080, dpr: 1 }, userAgent: 'Mozilla/5.0 (made up)',
    },
    fingerprint: { mflops: 596.98, n: 160, iterations: 44, durationMs: 603.7, checksum: -20.45 },
    cells: made,
    events: [{ t: 4990, type: 'suite-start' }, { t: time.pass(10), type: 'suite-end' }],
    clientSummaries: recompute({ cells: made }),
  };
  if (pad) run.padding = 'x'.repeat(pad);
  return run;
}
