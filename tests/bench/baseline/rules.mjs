// Plausibility rules, set 2 (spec 02). Flags in the order the specification gives.
import { parseAnswer } from './answers.mjs';
import { isLlmCell } from './recompute.mjs';

export const RULES_VERSION = 2;

const SOFTWARE = /swiftshader|llvmpipe|softpipe|\bwarp\b|microsoft basic render|parallels|vmware|virtio|virtualbox/i;
const COMPARED = ['ttftMs', 'decodeCharsPerSec', 'totalMs', 'overallCharsPerSec', 'singleLatencyMs',
  'batchTextsPerSec'];

function envelope(sizeBytes) {
  if (sizeBytes <= 500_000_000) return 4000;
  if (sizeBytes <= 1_000_000_000) return 2500;
  if (sizeBytes <= 2_000_000_000) return 1500;
  return 1000; // also without a size
}

// The cell's first failing iteration, monotony before length.
function traceFault(cell) {
  for (const [iteration, { startT, endT, chunks, text }] of cell.iterations.entries()) {
    let before = startT;
    for (const { t } of chunks) {
      if (t < before) return { code: 'trace-not-monotonic', evidence: { iteration, t, before } };
      before = t;
    }
    if (endT < before) return { code: 'trace-not-monotonic', evidence: { iteration, t: endT, before } };
    const chars = chunks.reduce((sum, chunk) => sum + chunk.c, 0);
    if (text.length !== chars) return { code: 'text-chunk-mismatch',
      evidence: { iteration, text: text.length, chunks: chars } };
  }
  return null;
}

function offGrid(cell, resolutionUs) {
  if (!(resolutionUs >= 4)) return null;
  const q = resolutionUs / 1000;
  let total = 0;
  let off = 0;
  for (const { chunks } of cell.iterations) {
    for (const { t } of chunks) {
      const steps = t / q;
      total += 1;
      if (Math.abs(steps - Math.round(steps)) > 0.01) off += 1;
    }
  }
  return total >= 20 && off > total / 2 ? { chunks: total, offGrid: off } : null;
}

function judgeLlm(cell, summary, run, flag) {
  const fault = traceFault(cell);
  if (fault) flag(fault.code, fault.evidence);
  const shortest = Math.min(...cell.iterations.map(({ text }) => text.length));
  if (shortest < 16) flag('degenerate-generation', { length: shortest });
  const limit = envelope(cell.model.sizeBytes);
  if (summary.decodeCharsPerSec?.median > limit) flag('decode-rate-envelope',
    { median: summary.decodeCharsPerSec.median, limit });
  if (summary.overallCharsPerSec?.median > limit) flag('overall-rate-envelope',
    { median: summary.overallCharsPerSec.median, limit });
  if (summary.ttftMs?.median < 1) flag('ttft-implausible', { median: summary.ttftMs.median });
  const grid = offGrid(cell, run.environment.timerResolutionUs);
  if (grid) flag('timer-grid', grid, 'warn');
}

function judgeQuality({ n, score, outputs, details }, key, flag) {
  if (outputs.length !== n || details?.length !== outputs.length) {
    flag('quality-outputs-mismatch', { n, outputs: outputs.length, details: details?.length ?? 0 });
    return;
  }
  if (n === 0) return;
  let hits = 0;
  if (!key) {
    hits = details.reduce((sum, detail) => sum + detail, 0);
  } else {
    for (const [i, output] of outputs.entries()) {
      const item = key.items[i];
      if (!item) break;
      const hit = parseAnswer(output, item) === item.answer ? 1 : 0;
      if (hit !== details[i]) {
        flag('quality-details-mismatch', { item: i, parsed: hit, detail: details[i] });
        return;
      }
      hits += hit;
    }
  }
  if (Math.abs(hits / n - score) > 1e-9) flag('quality-details-mismatch', { hits, n, score });
}

function judgeCell(cell, summary, run, key, flag) {
  if (cell.load && cell.load.endT < cell.load.startT) flag('load-time-reversed',
    { startT: cell.load.startT, endT: cell.load.endT });
  if (isLlmCell(cell)) {
    judgeLlm(cell, summary, run, flag);
  } else if (cell.quality?.taskId.startsWith('tinymmlu') && cell.quality.outputs) {
    judgeQuality(cell.quality, key, flag);
  } else if (cell.iterations.length > 0) {
    if (summary.batchTextsPerSec?.median > 2000) flag('embed-rate-envelope',
      { median: summary.batchTextsPerSec.median });
    if (summary.singleLatencyMs?.median < 0.05) flag('embed-latency-implausible',
      { median: summary.singleLatencyMs.median });
  }
}

function judgeClient(run, summaries, add) {
  const byId = new Map(summaries.map((summary) => [summary.cellId, summary]));
  for (const client of run.clientSummaries ?? []) {
    const server = byId.get(client.cellId);
    if (!server) continue;
    for (const metric of COMPARED) {
      const c = client[metric]?.median;
      const s = server[metric]?.median;
      if (typeof c !== 'number' || typeof s !== 'number' || s === 0) continue;
      if (Math.abs(c - s) / Math.abs(s) > 0.01) {
        add('client-summary-disagrees', 'reject', { metric, client: c, server: s }, client.cellId);
      }
    }
  }
}

export function judge(run, summaries, key) {
  const flags = [];
  const add = (code, severity, evidence, cellId) =>
    flags.push({ code, severity, ...(cellId === undefined ? {} : { cellId }), message: code.replaceAll('-', ' '),
      evidence });

  const { fingerprint, environment } = run;
  if (!fingerprint) {
    add('fingerprint-missing', 'reject', {});
  } else if (!(fingerprint.mflops > 1 && fingerprint.mflops <= 100_000) || fingerprint.checksum == null) {
    add('fingerprint-implausible', 'reject', { mflops: fingerprint.mflops, checksum: fingerprint.checksum
      ?? null });
  }
  for (const [i, cell] of run.cells.entries()) {
    if (cell.status !== 'ok') continue;
    judgeCell(cell, summaries[i], run, key, (code, evidence, severity = 'reject') =>
      add(code, severity, evidence, cell.cellId));
  }
  const gpu = environment.gpu ?? {};
  if (gpu.vendor?.toLowerCase() === 'apple' && environment.os.platform.toLowerCase().includes('windows')) {
    add('env-cross-field', 'reject', { vendor: gpu.vendor, platform: environment.os.platform });
  }
  const renderer = [gpu.vendor, gpu.architecture, gpu.device, gpu.description,
    environment.webglRenderer].filter(Boolean).join(' ');
  if (SOFTWARE.test(renderer)) {
    const onGpu = run.cells.some(({ status, resolvedBackend }) =>
      status === 'ok' && (resolvedBackend?.includes('webgpu') || resolvedBackend === 'gpu'));
    add('software-renderer', onGpu ? 'reject' : 'warn', { renderer });
  }
  judgeClient(run, summaries, add);
  return flags;
}
