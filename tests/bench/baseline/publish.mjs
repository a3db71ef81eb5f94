// Scrub, path and index entry (spec 03).
import { digestOf, digestState } from './json.mjs';

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export const hasHidden = (text) => text.search(HIDDEN) >= 0;

// Changes `run`; returns the dotted paths of what went. `scrubbedAt` is the ISO time to record.
export function scrub(run, scrubbedAt, state = digestState(run)) {
  const removed = [];
  const drop = (parent, path, key) => {
    if (parent === null || typeof parent !== 'object' || !Object.hasOwn(parent, key)) return;
    delete parent[key];
    removed.push(path === '' ? key : `${path}.${key}`);
  };
  const { environment } = run;
  drop(run, '', 'nonce');
  let changed = state === 'legacy';
  const before = removed.length;
  for (const key of ['timeZone', 'timeZoneOffsetMinutes', 'calendar']) drop(environment.locale,
    'environment.locale', key);
  drop(environment, 'environment', 'languages');
  for (const key of ['chargingTimeSec', 'dischargingTimeSec']) drop(environment.power, 'environment.power', key);
  const level = environment.power?.level;
  if (typeof level === 'number') {
    const quarter = Math.round(level * 4) / 4;
    if (quarter !== level && Number.isFinite(quarter)) {
      environment.power.level = quarter;
      removed.push('environment.power.level');
    }
  }
  for (const key of ['prefersReducedMotion', 'prefersColorScheme']) drop(environment.display,
    'environment.display', key);
  const gpu = environment.userReportedHardware?.gpu;
  if (typeof gpu === 'string') {
    const clean = gpu.replace(HIDDEN, ' ').replace(/\s+/g, ' ').trim().slice(0, 64).trim();
    if (clean !== gpu) {
      environment.userReportedHardware.gpu = clean;
      removed.push('environment.userReportedHardware.gpu');
    }
  }
  changed ||= removed.length > before;
  if (changed) {
    if (run.schemaVersion < 3) {
      run.schemaVersion = 3;
      removed.push('schemaVersion');
    }
    run.scrubbedAt = scrubbedAt;
    run.digest = digestOf(run);
  }
  return removed;
}

export function deviceNames({ os, gpu, gpuModel }) {
  const platform = os.platform.toLowerCase().replace(/\s+/g, '-');
  const adapter = gpu?.available === true
    ? [gpu.vendor ?? 'gpu', gpu.architecture ?? ''].filter((part) => part !== '').join('-')
    : 'no-webgpu';
  const deviceClass = `${platform}/${adapter}`;
  const model = (gpuModel ?? '').trim();
  if (model === '' || deviceClass.endsWith('/no-webgpu') || /or similar/i.test(model) || !/\d/.test(model)) {
    return { deviceClass, deviceSubclass: deviceClass };
  }
  const slug = model.toLowerCase().replace(/\((?:tm|r|c)\)/g, '').replace(/^mesa\s+/, '')
    .replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
  const part = deviceClass.slice(0, deviceClass.indexOf('/')); // of the class: all that an old entry still has
  return { deviceClass, deviceSubclass: slug === '' ? deviceClass : `${part}/${slug}` };
}

// Milliseconds since 1970 of a createdAt of the accepted form, NaN for any other text.
export function instant(text) {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(?:Z|([+-])(\d\d):(\d\d))$/.exec(text);
  if (!match) return NaN;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59
    || second > 59) return NaN;
  let offset = 0;
  if (match[8]) {
    if (Number(match[9]) > 23 || Number(match[10]) > 59) return NaN;
    offset = (Number(match[9]) * 60 + Number(match[10])) * (match[8] === '-' ? -1 : 1);
  }
  const ms = match[7] ? Math.floor(Number(`0${match[7]}`) * 1000) : 0;
  const time = date.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000 + ms;
  const utcYear = new Date(time).getUTCFullYear(); // a path has four digits for it
  return utcYear >= 0 && utcYear <= 9999 ? time : NaN;
}

export function publishedPath(run, flagged) {
  const month = new Date(instant(run.createdAt)).toISOString().slice(0, 7).replace('-', '/');
  return `${flagged ? 'quarantine' : 'runs'}/${month}/${run.runId}.json`;
}

// JSON.stringify leaves out what is undefined; these count as absent too.
const present = (value) => value ?? undefined;
const filled = (value) => (value === '' ? undefined : value);

function entryCell(cell, summary) {
  return {
    cellId: cell.cellId,
    runtimeId: cell.runtimeId,
    runtimeVersion: cell.runtimeVersion,
    benchModelId: cell.model.benchModelId,
    modelName: cell.model.displayName,
    workloadId: cell.workloadId,
    resolvedBackend: cell.resolvedBackend,
    ttftMs: summary.ttftMs?.median,
    decodeCharsPerSec: summary.decodeCharsPerSec?.median,
    overallCharsPerSec: summary.overallCharsPerSec?.median,
    streamIncremental: summary.streamIncremental,
    singleLatencyMs: summary.singleLatencyMs?.median,
    batchTextsPerSec: summary.batchTextsPerSec?.median,
    loadMs: summary.loadMs,
    loadCached: summary.loadCached,
    qualityScore: summary.qualityScore,
    qualityParseRate: summary.qualityParseRate,
    highVariance: summary.highVariance,
  };
}

export function entry(run, summaries, flagged) {
  const { environment, harness } = run;
  const { browser, os, hardware, gpu } = environment;
  const reported = environment.userReportedHardware;
  const { deviceClass, deviceSubclass } = deviceNames(environment);
  return {
    runId: run.runId,
    createdAt: run.createdAt,
    protocol: run.protocol,
    suite: run.suite,
    deviceClass,
    deviceSubclass,
    browser: browser.name,
    browserVersion: browser.version,
    engine: browser.engine,
    os: os.platform,
    osVersion: os.version,
    architecture: os.architecture,
    gpuVendor: gpu?.vendor,
    gpuArchitecture: gpu?.architecture,
    gpuModel: environment.gpuModel,
    deviceType: environment.device?.type,
    deviceModel: filled(os.model),
    cores: present(hardware.cores),
    deviceMemoryGB: present(hardware.deviceMemoryGB),
    jsHeapSizeLimitBytes: hardware.jsHeapSizeLimitBytes,
    storageQuotaBytes: environment.storage?.quotaBytes,
    crossOriginIsolated: environment.flags.crossOriginIsolated,
    webgpu: gpu?.available,
    timerResolutionUs: present(environment.timerResolutionUs),
    webdriver: browser.webdriver,
    harnessVersion: harness.version,
    runtimeVersions: harness.runtimeVersions,
    userReportedDevice: environment.userReportedDevice,
    reportedGpu: reported?.gpu,
    reportedChassis: reported?.chassis,
    reportedRamGB: present(reported?.ramGB),
    flagged,
    path: publishedPath(run, flagged),
    cells: run.cells.flatMap((cell, i) => (cell.status === 'ok' ? [entryCell(cell, summaries[i])] : [])),
  };
}
