// Recomputed statistics of spec 02, evaluated as written there.
const T975 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
  2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052,
  2.048, 2.045, 2.042];

const PROMPT_TOKENS = new Map([['chat-pp128-tg128', 128], ['chat-pp512-tg128', 512]]);

export function quantile(sorted, q) {
  const p = (sorted.length - 1) * q;
  const l = Math.floor(p);
  const h = Math.ceil(p);
  return l === h ? sorted[l] : sorted[l] + (sorted[h] - sorted[l]) * (p - l);
}

export function summarize(values) {
  const n = values.length;
  let sum = 0;
  for (const x of values) sum += x;
  const mean = sum / n;
  let sd = 0;
  if (n > 1) {
    let squares = 0;
    for (const x of values) squares += (x - mean) * (x - mean);
    sd = Math.sqrt(squares / (n - 1));
  }
  const sorted = [...values].sort((a, b) => a - b);
  const t = T975[Math.min(n - 1, T975.length) - 1];
  return {
    n,
    median: quantile(sorted, 0.5),
    mean,
    sd,
    iqr: quantile(sorted, 0.75) - quantile(sorted, 0.25),
    min: sorted[0],
    max: sorted[n - 1],
    ci95: n < 2 ? 0 : t * sd / Math.sqrt(n),
    cv: mean === 0 ? 0 : sd / Math.abs(mean),
  };
}

export const isLlmCell = (cell) => cell.iterations.length > 0 && Object.hasOwn(cell.iterations[0], 'chunks');

function isIncremental({ startT, endT, chunks }) {
  const filled = chunks.filter((chunk) => chunk.c > 0);
  if (filled.length < 2 || !(endT - startT > 0)) return false;
  return (filled.at(-1).t - filled[0].t) / (endT - startT) >= 0.2;
}

function llmMetrics(cell) {
  const streamIncremental = cell.iterations.every(isIncremental);
  const promptTokens = PROMPT_TOKENS.get(cell.workloadId);
  const values = { ttftMs: [], decodeCharsPerSec: [], decodeChunksPerSec: [], generatedChars: [],
    prefillTokPerSecApprox: [], totalMs: [], overallCharsPerSec: [] };
  for (const { startT, endT, chunks } of cell.iterations) {
    const chars = chunks.reduce((sum, chunk) => sum + chunk.c, 0);
    const total = endT - startT;
    values.generatedChars.push(chars);
    if (total > 0) values.totalMs.push(total);
    if (total > 0 && chars > 0) values.overallCharsPerSec.push(chars / total * 1000);
    if (!streamIncremental) continue;
    const first = chunks.find((chunk) => chunk.c > 0);
    const ttft = first.t - startT;
    values.ttftMs.push(ttft);
    if (promptTokens !== undefined && ttft > 0) values.prefillTokPerSecApprox.push(promptTokens / ttft * 1000);
    const ms = chunks.at(-1).t - first.t;
    const d = chars - first.c;
    if (ms > 0 && d > 0) {
      values.decodeCharsPerSec.push(d / ms * 1000);
      values.decodeChunksPerSec.push((chunks.length - 1) / ms * 1000);
    }
  }
  return { streamIncremental, values };
}

function embeddingMetrics(cell) {
  const timed = cell.iterations.filter(({ startT, endT }) => endT - startT > 0);
  return cell.iterations[0].count === 1
    ? { singleLatencyMs: timed.map(({ startT, endT }) => endT - startT) }
    : { batchTextsPerSec: timed.map(({ startT, endT, count }) => count / (endT - startT) * 1000) };
}

const VARIANCE_METRICS = ['ttftMs', 'decodeCharsPerSec', 'overallCharsPerSec', 'singleLatencyMs',
  'batchTextsPerSec'];

export function summarizeCell(cell) {
  const summary = { cellId: cell.cellId, status: cell.status, highVariance: false };
  if (cell.load) {
    summary.loadMs = cell.load.endT - cell.load.startT;
    if (Object.hasOwn(cell.load, 'cached')) summary.loadCached = cell.load.cached;
  }
  if (cell.quality) {
    summary.qualityScore = cell.quality.score;
    if (Object.hasOwn(cell.quality, 'parseRate')) summary.qualityParseRate = cell.quality.parseRate;
  }
  if (cell.iterations.length === 0) return summary;
  let metrics;
  if (isLlmCell(cell)) {
    const { streamIncremental, values } = llmMetrics(cell);
    summary.streamIncremental = streamIncremental;
    metrics = values;
  } else {
    metrics = embeddingMetrics(cell);
  }
  for (const [name, values] of Object.entries(metrics)) {
    if (values.length > 0) summary[name] = summarize(values);
  }
  summary.highVariance = VARIANCE_METRICS.some((name) => summary[name]?.n >= 2 && summary[name].cv > 0.05);
  return summary;
}

export const recompute = (run) => run.cells.map(summarizeCell);
