// Recomputed statistics (spec 02) by `check --json`: which metrics a cell gets, and figures to the last bit.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../support/checker.mjs';
import { makeRun, seal } from '../support/run.mjs';

const EMBED = (startT, endT, count = 1) => ({ startT, endT, count, dimensions: 384, gates: [] });
const LLM = (startT, times, endT, chars = times.map(() => 4)) => ({
  startT, endT, chunks: times.map((t, i) => ({ t, c: chars[i] })),
    text: 'x'.repeat(chars.reduce((a, b) => a + b, 0)), gates: [],
});
const summary = (n, median, mean, sd, iqr, min, max, ci95, cv) =>
  ({ n, median, mean, sd, iqr, min, max, ci95, cv });
const same = (n, value) => summary(n, value, value, 0, 0, value, value, 0, 0);

/** Cells of one run, each with what its summary must be beyond cellId and status. */
const CASES = {
  'no iterations': [{ iterations: [] }, { highVariance: false }],
  'load and quality without iterations': [
    { iterations: [], load: { cached: true, startT: 1.5, endT: 4 },
      quality: { taskId: 't', score: 0.25, n: 4, parseRate: 0.5 } },
    { highVariance: false, loadMs: 2.5, loadCached: true, qualityScore: 0.25, qualityParseRate: 0.5 }],
  'a load that does not say whether it was cached': [{ iterations: [], load: { startT: 4, endT: 1.5 } },
    { highVariance: false, loadMs: -2.5 }],
  'a quality without a parse rate': [{ iterations: [], quality: { taskId: 't', score: -0, n: 1 } },
    { highVariance: false, qualityScore: 0 }],
  'one latency': [{ iterations: [EMBED(10, 12)] }, { highVariance: false, singleLatencyMs: same(1, 2) }],
  'two latencies': [{ iterations: [EMBED(0, 1), EMBED(0, 3)] },
    { highVariance: true, singleLatencyMs: summary(2, 2, 2, 1.4142135623730951, 1, 1, 3, 12.706,
      0.7071067811865476) }],
  'three latencies as a real client summed them up': [{ iterations: [EMBED(86154.84499999881, 86223.45500000566),
    EMBED(86223.78000000119, 86301.1400000006), EMBED(0, 115.79500000178814)] },
    { highVariance: true, singleLatencyMs: summary(3, 77.35999999940395, 87.25500000268221, 25.10058415513728,
      23.592499997466803, 68.61000000685453, 115.79500000178814, 62.35834026783343, 0.2876692929272327) }],
  'quantiles of four lie between': [{ iterations: [4, 1, 3, 2].map((ms) => EMBED(0, ms)) },
    { highVariance: true, singleLatencyMs: summary(4, 2.5, 2.5, 1.2909944487358056, 1.5, 1, 4, 2.0539721679386668,
      0.5163977794943222) }],
  'a batch': [{ iterations: [EMBED(0, 16, 32), EMBED(0, 16, 32)] },
    { highVariance: false, batchTextsPerSec: same(2, 2000) }],
  'a batch of nothing': [{ iterations: [EMBED(0, 16, 0)] }, { highVariance: false, batchTextsPerSec: same(1, 0) }],
  'the first count decides for all': [{ iterations: [EMBED(0, 8, 1), EMBED(0, 8, 32)] },
    { highVariance: false, singleLatencyMs: same(2, 8) }],
  'even when the first took no time': [{ iterations: [EMBED(5, 5, 1), EMBED(0, 8, 32)] },
    { highVariance: false, singleLatencyMs: same(1, 8) }],
  'durations not above 0 are left out': [{ iterations: [EMBED(5, 5), EMBED(5, 4)] }, { highVariance: false }],
  'variance of exactly 5 % is not high': [{ iterations: [EMBED(0, 9.5), EMBED(0, 10), EMBED(0, 10.5)] },
    { highVariance: false, singleLatencyMs: summary(3, 10, 10, 0.5, 0.5, 9.5, 10.5, 4.303 * 0.5 / Math.sqrt(3),
      0.05) }],
  'variance above 5 % is high': [{ iterations: [EMBED(0, 9.25), EMBED(0, 10), EMBED(0, 10.75)] },
    { highVariance: true, singleLatencyMs: summary(3, 10, 10, 0.75, 0.75, 9.25, 10.75, 4.303 * 0.75 / Math.sqrt(3),
      0.075) }],
  'a stream': [{ workloadId: 'chat-pp128-tg128', iterations: [LLM(0, [64, 96, 128], 160)] },
    { highVariance: false, streamIncremental: true, ttftMs: same(1, 64), decodeCharsPerSec: same(1, 125),
      decodeChunksPerSec: same(1, 31.25), generatedChars: same(1, 12),
      prefillTokPerSecApprox: same(1, 2000), totalMs: same(1, 160), overallCharsPerSec: same(1, 75) }],
  'a workload with 512 prompt tokens': [{ workloadId: 'chat-pp512-tg128', iterations: [LLM(0, [64, 128], 160)] },
    { highVariance: false, streamIncremental: true, ttftMs: same(1, 64), decodeCharsPerSec: same(1, 62.5),
      decodeChunksPerSec: same(1, 15.625), generatedChars: same(1, 8),
      prefillTokPerSecApprox: same(1, 8000), totalMs: same(1, 160), overallCharsPerSec: same(1, 50) }],
  'a workload with unknown prompt tokens': [{ workloadId: 'chat', iterations: [LLM(0, [64, 128], 160)] },
    { highVariance: false, streamIncremental: true, ttftMs: same(1, 64), decodeCharsPerSec: same(1, 62.5),
      decodeChunksPerSec: same(1, 15.625), generatedChars: same(1, 8),
      totalMs: same(1, 160), overallCharsPerSec: same(1, 50) }],
  'a ttft of 0 gives no prefill rate': [{ workloadId: 'chat-pp128-tg128', iterations: [LLM(0, [0, 64], 64)] },
    { highVariance: false, streamIncremental: true, ttftMs: same(1, 0), decodeCharsPerSec: same(1, 62.5),
      decodeChunksPerSec: same(1, 15.625), generatedChars: same(1, 8),
      totalMs: same(1, 64), overallCharsPerSec: same(1, 125) }],
  'chunks without characters: first counts with, last and number without': [{ workloadId: 'chat',
    iterations: [LLM(0, [8, 16, 32, 48, 80], 100, [0, 5, 0, 5, 0])] },
    { highVariance: false, streamIncremental: true, ttftMs: same(1, 16), decodeCharsPerSec: same(1, 78.125),
      decodeChunksPerSec: same(1, 62.5), generatedChars: same(1, 10),
      totalMs: same(1, 100), overallCharsPerSec: same(1, 100) }],
  'a decode of one character in half a millisecond': [{ workloadId: 'chat',
    iterations: [LLM(0, [1, 1.5], 2, [4, 1])] },
    { highVariance: false, streamIncremental: true, ttftMs: same(1, 1), decodeCharsPerSec: same(1, 2000),
      decodeChunksPerSec: same(1, 2000), generatedChars: same(1, 5),
      totalMs: same(1, 2), overallCharsPerSec: same(1, 2500) }],
  'a total and a duration below 1 ms': [{ workloadId: 'chat', iterations: [LLM(0, [0.25, 0.5], 0.5, [1, 1])] },
    { highVariance: false, streamIncremental: true, ttftMs: same(1, 0.25), decodeCharsPerSec: same(1, 4000),
      decodeChunksPerSec: same(1, 4000), generatedChars: same(1, 2),
      totalMs: same(1, 0.5), overallCharsPerSec: same(1, 4000) }],
  'a latency below 1 ms': [{ iterations: [EMBED(0, 0.5)] }, { highVariance: false, singleLatencyMs: same(1, 0.5) }],
  'a span of exactly 0.2 is incremental': [{ workloadId: 'chat', iterations: [LLM(0, [64, 80], 80)] },
    { highVariance: false, streamIncremental: true, ttftMs: same(1, 64), decodeCharsPerSec: same(1, 250),
      decodeChunksPerSec: same(1, 62.5), generatedChars: same(1, 8),
      totalMs: same(1, 80), overallCharsPerSec: same(1, 100) }],
  'a span below 0.2 is a burst': [{ iterations: [LLM(0, [64, 79], 80)] },
    { highVariance: false, streamIncremental: false, generatedChars: same(1, 8), totalMs: same(1, 80),
      overallCharsPerSec: same(1, 100) }],
  'the span ends at the last chunk with characters': [{ iterations: [LLM(0, [64, 72, 80], 80, [4, 4, 0])] },
    { highVariance: false, streamIncremental: false, generatedChars: same(1, 8), totalMs: same(1, 80),
      overallCharsPerSec: same(1, 100) }],
  'one chunk with characters is a burst': [{ iterations: [LLM(0, [10, 40, 80], 80, [0, 8, 0])] },
    { highVariance: false, streamIncremental: false, generatedChars: same(1, 8), totalMs: same(1, 80),
      overallCharsPerSec: same(1, 100) }],
  'one burst of two makes the cell one': [{ iterations: [LLM(0, [10, 40, 80], 80), LLM(0, [80], 80, [12])] },
    { highVariance: false, streamIncremental: false, generatedChars: same(2, 12), totalMs: same(2, 80),
      overallCharsPerSec: same(2, 150) }],
  'no chunks': [{ iterations: [LLM(0, [], 80)] }, { highVariance: false, streamIncremental: false,
    generatedChars: same(1, 0), totalMs: same(1, 80) }],
  'no time passed': [{ iterations: [LLM(5, [1, 5], 5)] }, { highVariance: false, streamIncremental: false,
    generatedChars: same(1, 8) }],
  'time ran backwards': [{ iterations: [LLM(5, [1, 5], 4)] }, { highVariance: false, streamIncremental: false,
    generatedChars: same(1, 8) }],
  'a decode time of 0 gives no rate': [{ workloadId: 'chat', iterations: [LLM(0, [10, 50, 10], 100)] },
    { highVariance: false, streamIncremental: false, generatedChars: same(1, 12), totalMs: same(1, 100),
      overallCharsPerSec: same(1, 120) }],
  'a last chunk before the first gives no rate': [{ workloadId: 'chat',
    iterations: [LLM(0, [10, 50, 10], 100, [4, 4, 0])] },
    { highVariance: false, streamIncremental: true, ttftMs: same(1, 10), generatedChars: same(1, 8),
      totalMs: same(1, 100), overallCharsPerSec: same(1, 80) }],
  'a result that is not finite is null': [{ iterations: [EMBED(-1e308, 1e308), EMBED(0, 1), EMBED(0, 1)] },
    { highVariance: false, singleLatencyMs: { n: 3, median: 1, mean: null, sd: null, iqr: null, min: 1, max: null,
      ci95: null, cv: null } }],
  'a mean of 0': [{ workloadId: 'chat', iterations: [LLM(64, [0, 128], 128), LLM(0, [64, 128], 128)] },
    { highVariance: true, streamIncremental: true, ttftMs: summary(2, 0, 0, 90.50966799187809, 64, -64, 64,
      12.706 * 90.50966799187809 / Math.sqrt(2), 0),
      decodeCharsPerSec: summary(2, 46.875, 46.875, 22.097086912079612, 15.625, 31.25, 62.5,
        12.706 * 22.097086912079612 / Math.sqrt(2), 22.097086912079612 / 46.875) }],
};
for (const [n, t] of [[2, 12.706], [3, 4.303], [11, 2.228], [30, 2.045], [31, 2.042], [32, 2.042], [200, 2.042]]) {
  const values = Array.from({ length: n }, (_, i) => 100 + (i % 2));
  const mean = values.reduce((a, b) => a + b, 0) / n;
  const sd = Math.sqrt(values.reduce((a, x) => a + (x - mean) * (x - mean), 0) / (n - 1));
  CASES[`the interval of ${n} values`] = [{ iterations: values.map((ms) => EMBED(0, ms)) },
    { highVariance: false, singleLatencyMs: { ci95: t * sd / Math.sqrt(n), sd, n } }];
}

/** PART holds only what the case is about. */
function contains(found, part) {
  for (const [key, value] of Object.entries(part)) {
    if (value !== null && typeof value === 'object') contains(found[key], value);
    else assert.ok(Object.is(found[key], value), `${key}: ${found[key]} where ${value} belongs`);
  }
}

test('a cell is summed up as the specification says, to the last bit', async (t) => {
  const run = makeRun({ cells: ['embed-single'] });
  const [shell] = run.cells;
  run.cells = Object.entries(CASES).map(([name, [change]]) => ({ ...shell, load: null, ...change, cellId: name,
    status: 'invalid' }));
  delete run.clientSummaries;
  const { status, verdicts: [verdict] } = check([seal(run)]);
  assert.equal(status, 0, JSON.stringify(verdict.shapeErrors));
  for (const [i, [name, [, expected]]] of Object.entries(CASES).entries()) {
    await t.test(name, () => {
      const found = verdict.summaries[i];
      contains(found, { cellId: name, status: 'invalid', ...expected });
      const whole = !name.startsWith('the interval') && name !== 'a mean of 0';
      if (whole) assert.deepEqual(Object.keys(found), ['cellId', 'status', ...Object.keys(expected)],
        'these keys in this order');
      for (const value of Object.values(found)) {
        if (typeof value === 'object') assert.deepEqual(Object.keys(value),
          ['n', 'median', 'mean', 'sd', 'iqr', 'min', 'max', 'ci95', 'cv']);
      }
    });
  }
});
