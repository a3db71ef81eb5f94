// The exports of a dataset in plain JavaScript, written from spec 03 ("CSV exports"), and runs that have
// something in every column.
import { checkBytes, deviceNames, digestOf, instant } from '../bench/baseline.mjs';

const HEADERS = {
  iterations: `runId, createdAt, protocol, suite, deviceClass, deviceSubclass, browser, browserVersion, os, gpuVendor,
    gpuArchitecture, cores, deviceMemoryGB, crossOriginIsolated, fingerprintMflops, runtimeId, runtimeVersion, benchModelId,
    providerModelId, quantization, sizeBytes, workloadId, resolvedBackend, iteration, ttftMs, decodeCharsPerSec,
    generatedChars, overallCharsPerSec, streamIncremental, durationMs, loadMs, loadCached, status, cellId, chunkCount,
    generatedTokensApprox, generatedTokensFidelity, tokensPerSecApprox, finishReason, gates, embedCount`,
  cells: `runId, protocol, cellId, runtimeId, runtimeVersion, benchModelId, workloadId, workloadKind, resolvedBackend, status,
    invalidReasons, iterationCount, discardedIterationCount, attemptCount, warmupMs, loadMs, loadCached, loadDeclaredBytes,
    loadProgressEvents, loadProgressSpanMs, n_threads, n_threads_used, multithread, n_ctx, n_gpu_layers, offloadedLayers,
    webgpu_adapter, cache_prompt, mmproj, dtype, device, worker, memoryBaseline, memoryPostLoad, memoryPostRun,
    memoryAtError, memoryApi, qualityTaskId, qualityScore, qualityN, qualityParseRate, errorName, errorMessage, errorCause,
    cellStartedAt, cellEndedAt`,
  runs: `runId, createdAt, protocol, schemaVersion, harnessName, harnessVersion, harnessAppVersion, harnessCommit, suite,
    qualityLane, deviceClass, deviceSubclass, browser, browserVersion, browserEngine, os, osVersion, osArchitecture,
    deviceType, hardwareConcurrency, coresClamped, deviceMemoryGB, deviceMemoryCapped, screenWidth, screenHeight, screenDpr,
    gpuAvailable, gpuVendor, gpuArchitecture, gpuDevice, gpuDescription, gpuIsFallbackAdapter, gpuModel,
    crossOriginIsolated, timerResolutionUs, fingerprintMflops, cellsTotal, cellsOk, cellsInvalid, cellsError, cellsSkipped,
    suiteDurationMs, scrubbedAt, validationOk, validationFlags, seriesId, seriesIndex, seriesCount, coldStart,
    seriesCooldownMs, seriesIdleBeforeMs, pressureSamples, pressureCriticalFraction, pressureSeriousFraction,
    pressureFairFraction, pressureNominalFraction, rv_, powerCharging, powerLevel, reportedGpu, reportedChassis,
    reportedRamGB, reportedOtherApps`,
};
export const TABLES = Object.keys(HEADERS);
const columnsOf = (table) => HEADERS[table].split(',').map((name) => name.trim());

const round2 = (value) => (value === undefined ? undefined : Math.round(value * 100) / 100);
const field = (value) => {
  if (value === undefined || value === null || (typeof value === 'number' && !Number.isFinite(value))) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@]/.test(value) ? `'${value}` : value;
  return /["\r\n,]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const csv = (columns, rows) => [columns.join(','), ...rows.map((row) =>
  columns.map((name) => field(row[name])).join(','))].map((line) => `${line}\n`).join('');

const isLlm = ({ iterations }) => iterations.length > 0 && 'chunks' in iterations[0];

/** What a stream gives when it is looked at alone; undefined unless it is incremental. */
function stream({ startT, endT, chunks }) {
  const filled = chunks.filter(({ c }) => c > 0);
  const total = endT - startT;
  if (filled.length < 2 || !(total > 0) || !((filled.at(-1).t - filled[0].t) / total >= 0.2)) return undefined;
  const [first] = filled;
  const chars = chunks.reduce((sum, { c }) => sum + c, 0);
  const ms = chunks.at(-1).t - first.t;
  const decoded = chars - first.c;
  return { ttftMs: first.t - startT, ...(ms > 0 && decoded > 0
    ? { decode: decoded / ms * 1000, tokens: (chunks.length - 1) / ms * 1000 } : {}) };
}

function device(run) {
  const { environment: env, fingerprint } = run;
  return {
    runId: run.runId, createdAt: run.createdAt, protocol: run.protocol, suite: run.suite, ...deviceNames(env),
    browser: env.browser.name, browserVersion: env.browser.version, os: env.os.platform, gpuVendor: env.gpu?.vendor,
    gpuArchitecture: env.gpu?.architecture, cores: env.hardware.cores, deviceMemoryGB: env.hardware.deviceMemoryGB,
    crossOriginIsolated: env.flags.crossOriginIsolated, fingerprintMflops: round2(fingerprint?.mflops),
  };
}

function cellHead(cell) {
  return {
    cellId: cell.cellId, runtimeId: cell.runtimeId, runtimeVersion: cell.runtimeVersion,
    benchModelId: cell.model.benchModelId, workloadId: cell.workloadId, resolvedBackend: cell.resolvedBackend,
    status: cell.status, loadMs: cell.load ? round2(cell.load.endT - cell.load.startT) : undefined,
    loadCached: cell.load?.cached,
  };
}

function iterationRow(cell, iteration, i) {
  const { startT, endT } = iteration;
  const row = {
    iteration: i + 1, durationMs: round2(endT - startT), generatedTokensApprox: iteration.providerUsage?.outputTokens,
    generatedTokensFidelity: iteration.providerUsage?.fidelity, finishReason: iteration.finishReason,
    gates: iteration.gates?.join('|'),
  };
  if (!isLlm(cell)) return { ...row, embedCount: iteration.count };
  const chars = iteration.chunks.reduce((sum, { c }) => sum + c, 0);
  const found = stream(iteration);
  const throughout = cell.iterations.every((one) => stream(one) !== undefined);
  return {
    ...row, ttftMs: round2(found?.ttftMs), decodeCharsPerSec: round2(found?.decode), generatedChars: chars,
    overallCharsPerSec: endT - startT > 0 && chars > 0 ? round2(chars / (endT - startT) * 1000) : undefined,
    streamIncremental: found !== undefined, chunkCount: iteration.chunks.length,
    tokensPerSecApprox: throughout ? round2(found.tokens) : undefined,
  };
}

const iterationRows = (run) => run.cells.flatMap((cell) => {
  const head = { ...device(run), ...cellHead(cell), providerModelId: cell.model.providerModelId,
    quantization: cell.model.quantization, sizeBytes: cell.model.sizeBytes };
  return cell.iterations.length === 0 ? [head]
    : cell.iterations.map((iteration, i) => ({ ...head, ...iterationRow(cell, iteration, i) }));
});

const suiteEnd = (run) => run.events.filter(({ type, t }) => type === 'suite-end' && t !== undefined).at(-1)?.t;
const suiteStart = (run) => run.events.find(({ type, t }) => type === 'suite-start' && t !== undefined)?.t;

function wallTimes(run, cell) {
  const { load } = cell;
  const times = [
    ...(load ? [load.startT, load.endT, load.endT + cell.warmupMs, ...(load.progress ?? []).map(({ t }) => t)] : []),
    ...[...cell.iterations, ...(cell.discardedIterations ?? [])].flatMap(({ startT, endT }) => [startT, endT]),
    ...(cell.attempts ?? []).map(({ at }) => at),
  ].filter((t) => t !== undefined && !Number.isNaN(t));
  const end = suiteEnd(run);
  if (times.length === 0 || end === undefined) return {};
  const iso = (t) => {
    const date = new Date(instant(run.createdAt) + (t - end));
    const year = date.getUTCFullYear();
    return year >= 0 && year <= 9999 ? date.toISOString() : undefined;
  };
  return { cellStartedAt: iso(Math.min(...times)), cellEndedAt: iso(Math.max(...times)) };
}

const cellRows = (run) => run.cells.map((cell) => {
  const { load, memory, quality, error } = cell;
  const times = (load?.progress ?? []).map(({ t }) => t).filter((t) => t !== undefined);
  return {
    ...cell.runtimeConfig, runId: run.runId, protocol: run.protocol, ...cellHead(cell), workloadKind: cell.workloadKind,
    invalidReasons: cell.invalidReasons?.join('|'), iterationCount: cell.iterations.length,
    discardedIterationCount: cell.discardedIterations?.length, attemptCount: cell.attempts?.length,
    warmupMs: round2(cell.warmupMs), loadDeclaredBytes: load?.declaredBytes, loadProgressEvents: load?.progress?.length,
    loadProgressSpanMs: times.length > 0 ? round2(times.at(-1) - times[0]) : undefined,
    memoryBaseline: memory?.baseline, memoryPostLoad: memory?.postLoad, memoryPostRun: memory?.postRun,
    memoryAtError: memory?.atError, memoryApi: memory?.api, qualityTaskId: quality?.taskId, qualityScore: quality?.score,
    qualityN: quality?.n, qualityParseRate: quality?.parseRate, errorName: error?.name, errorMessage: error?.message,
    errorCause: error?.cause, ...wallTimes(run, cell),
  };
});

function pressure(run) {
  const changes = run.events.filter(({ type, t }) => type === 'pressure-change' && t !== undefined)
    .sort((a, b) => a.t - b.t);
  const start = suiteStart(run), end = suiteEnd(run);
  const row = { pressureSamples: changes.length };
  if (changes.length === 0 || !(end - start > 0)) return row;
  const before = changes.findLast(({ t }) => t <= start);
  const steps = [{ t: start, detail: before?.detail }, ...changes.filter(({ t }) => t > start && t < end), { t: end }];
  for (const state of ['Critical', 'Serious', 'Fair', 'Nominal']) {
    let ms = 0;
    for (let i = 1; i < steps.length; i++)
      if (steps[i - 1].detail === state.toLowerCase()) ms += steps[i].t - steps[i - 1].t;
    row[`pressure${state}Fraction`] = Math.round(ms / (end - start) * 10000) / 10000;
  }
  return row;
}

export const packageColumn = (name) =>
  `rv_${name.toLowerCase().replace(/^@/, '').replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '')}`;

function runRow(run, { ok, flags }) {
  const { harness, environment: env } = run;
  const { hardware, gpu, screen, power, userReportedHardware: reported } = env;
  const count = (status) => run.cells.filter((cell) => cell.status === status).length;
  return {
    ...device(run), schemaVersion: run.schemaVersion, harnessName: harness.name, harnessVersion: harness.version,
    harnessAppVersion: harness.appVersion, harnessCommit: harness.commit,
    qualityLane: run.cells.some(({ workloadKind }) => workloadKind?.startsWith('quality-')),
    browserEngine: env.browser.engine, osVersion: env.os.version, osArchitecture: env.os.architecture,
    deviceType: env.device?.type, hardwareConcurrency: hardware.cores, coresClamped: hardware.coresClamped,
    deviceMemoryCapped: hardware.deviceMemoryCapped, screenWidth: screen?.width, screenHeight: screen?.height,
    screenDpr: screen?.dpr, gpuAvailable: gpu?.available, gpuDevice: gpu?.device, gpuDescription: gpu?.description,
    gpuIsFallbackAdapter: gpu?.isFallbackAdapter, gpuModel: env.gpuModel, timerResolutionUs: env.timerResolutionUs,
    cellsTotal: run.cells.length, cellsOk: count('ok'), cellsInvalid: count('invalid'), cellsError: count('error'),
    cellsSkipped: count('skipped'), suiteDurationMs: round2(suiteEnd(run) - suiteStart(run)), scrubbedAt: run.scrubbedAt,
    validationOk: ok, validationFlags: flags.map(({ severity, code }) => `${severity}:${code}`).join('|'),
    seriesId: harness.series?.id, seriesIndex: harness.series?.index, seriesCount: harness.series?.count,
    coldStart: harness.coldStart, seriesCooldownMs: harness.series?.cooldownMs,
    seriesIdleBeforeMs: harness.series?.idleBeforeMs, ...pressure(run),
    ...Object.fromEntries(Object.entries(harness.runtimeVersions ?? {}).map(([name, version]) =>
      [packageColumn(name), version])),
    powerCharging: power?.charging, powerLevel: power?.level, reportedGpu: reported?.gpu,
    reportedChassis: reported?.chassis, reportedRamGB: reported?.ramGB, reportedOtherApps: reported?.otherAppsRunning,
  };
}

const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** FILES: [{path, bytes}] of run files. Gives the text of each file but the board's, by name. */
export function exportsOf(files) {
  const runs = files.map(({ path, bytes }) => ({ path, run: JSON.parse(bytes.toString()),
    verdict: checkBytes(path, bytes) }))
    .sort((a, b) => byBytes(a.run.createdAt, b.run.createdAt) || byBytes(a.path, b.path));
  const packages = [...new Set(runs.flatMap(({ run }) =>
    Object.keys(run.harness.runtimeVersions ?? {}).map(packageColumn)))].sort();
  const texts = runs.flatMap(({ run }) => run.cells.filter(isLlm).flatMap(({ cellId, iterations }) =>
    iterations.map(({ text }, i) => `${JSON.stringify({ runId: run.runId, cellId, iteration: i + 1, text })}\n`)));
  return {
    'iterations.csv': csv(columnsOf('iterations'), runs.flatMap(({ run }) => iterationRows(run))),
    'cells.csv': csv(columnsOf('cells'), runs.flatMap(({ run }) => cellRows(run))),
    'runs.csv': csv(columnsOf('runs').flatMap((name) => (name === 'rv_' ? packages : [name])),
      runs.map(({ run, verdict }) => runRow(run, verdict))),
    'texts.jsonl': texts.join(''),
    'validation.txt': runs.map(({ run, verdict: { ok, flags } }) => `${[run.runId, ok ? 'ok' : 'not-ok',
      ...flags.map(({ severity, code }) => `${severity}:${code}`)].join(' ')}\n`).join(''),
  };
}

const WORDS = ['=1+1', '+2', '-3', '@x', 'a "b" c', 'x,y', 'two\nlines', '\r', ' blank ', '', '\ud83d', '\u{1F600}', "'",
  'plain', '\u00e9=', '"'];

/** Puts something into columns that made-up runs leave empty. */
export function fillColumns(random, run) {
  const word = () => random.pick(WORDS);
  const { environment: env, harness } = run;
  const start = run.events.find(({ type }) => type === 'suite-start')?.t ?? 0;
  if (random.chance(0.7)) for (let n = random.below(6); n >= 0; n--) run.events.splice(random.below(run.events.length + 1), 0,
    { t: start + random.below(40) * 500 - 3000, type: 'pressure-change',
      detail: random.pick(['nominal', 'fair', 'serious', 'critical', 'other']) });
  if (random.chance(0.1)) run.events = run.events.filter(({ type }) => type !== random.pick(['suite-end', 'suite-start']));
  if (random.chance(0.2)) run.events.push({ t: start + 1e5 + random.bits() / 7, type: 'suite-end' });
  Object.assign(harness, { name: word(), appVersion: word(), commit: word(), runtimeVersions: {
    '@a/B.c': word(), [random.pick(['a-b-c', '\u212a1', 'zz', '@@', '\u00e9', '9'])]: word() } });
  if (random.chance(0.5)) harness.series = { id: `=${word()}`.slice(0, 60), index: 1, count: 2, cooldownMs: random.below(1000) };
  env.gpu = { available: random.chance(0.7), vendor: word(), device: word(), description: word() };
  env.screen = random.pick([null, { width: 1, height: 2.5 }, { dpr: 1.25 }]);
  env.userReportedHardware = { gpu: random.pick(['=SUM(A1)', 'RTX']), ramGB: random.pick([null, 16]),
    otherAppsRunning: random.chance(0.5) };
  env.power = random.pick([undefined, { charging: false, level: 0.25 }, {}]);
  for (const cell of run.cells) {
    if (random.chance(0.3)) cell.runtimeConfig = { n_threads: random.pick([4, '4', null, -0, 1e21]), offloadedLayers: word(),
      n_threads_used: 4, multithread: true, n_ctx: 512.5, n_gpu_layers: -1, webgpu_adapter: false, cache_prompt: random.chance(0.5),
      mmproj: true, device: word(), worker: random.chance(0.5), dtype: word(), 7: true };
    if (random.chance(0.3)) cell.invalidReasons = [word(), word()].slice(random.below(3));
    if (random.chance(0.3)) cell.attempts = [{ at: start + random.below(9999) / 7 }, {}].slice(random.below(3));
    if (random.chance(0.3)) cell.discardedIterations = [{ startT: random.below(9e5) / 3, endT: start }, { endT: -5 }, {}];
    if (random.chance(0.3)) cell.error = { name: word(), message: word(), cause: word() };
    if (random.chance(0.3)) cell.warmupMs = random.below(1e6) / 777;
    if (cell.load && random.chance(0.5)) cell.load.progress = [{}, { t: random.below(1e6) / 3 }, { pct: 1 }, { t: 7.125 }]
      .slice(random.below(5));
    for (const iteration of cell.iterations) if (random.chance(0.2)) iteration.gates = [word(), word()];
  }
  run.digest = digestOf(run);
  if (random.chance(0.1)) run.digest = '0'.repeat(64);
  return run;
}
