// Board rows and rebuilt index of a dataset (spec 03), from its entries.
import { deviceNames } from './publish.mjs';
import { quantile } from './recompute.mjs';
import { sha256 } from './json.mjs';

const SEGMENT_BYTES = 1_000_000;
const METRICS = ['ttftMs', 'decodeCharsPerSec', 'overallCharsPerSec', 'singleLatencyMs', 'batchTextsPerSec',
  'loadColdMs', 'loadWarmMs', 'qualityScore', 'qualityParseRate'];

const DEVICE = ['gpuModel', 'os', 'osVersion', 'architecture', 'cores', 'deviceMemoryGB', 'browser', 'browserVersion', 'engine',
  'deviceModel'];

const byUnits = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const version = (protocol) => Number(protocol.slice(protocol.indexOf('/') + 1));
const isNumber = (value) => typeof value === 'number';

/** The subclass an old entry lacks, from the class and the model that it has. */
function subclassOf({ deviceClass, deviceSubclass, gpuModel }) {
  if (deviceSubclass !== undefined) return deviceSubclass;
  const [platform] = deviceClass.split('/');
  const { deviceSubclass: refined } = deviceNames({ os: { platform },
    gpu: { available: !deviceClass.endsWith('/no-webgpu') }, gpuModel });
  return refined === `${platform}/gpu` || refined.endsWith('/no-webgpu') ? deviceClass : refined;
}

function collect(groups, entry, cell) {
  const deviceSubclass = subclassOf(entry);
  const key = JSON.stringify([entry.protocol, deviceSubclass, cell.runtimeId, cell.benchModelId, cell.workloadId]);
  let group = groups.get(key);
  if (!group) {
    group = {
      head: { protocol: entry.protocol, deviceClass: entry.deviceClass, deviceSubclass, runtimeId: cell.runtimeId,
        benchModelId: cell.benchModelId, modelName: cell.modelName, workloadId: cell.workloadId },
      runs: new Set(), devices: new Set(), values: Object.fromEntries(METRICS.map((metric) => [metric, []])), backends: new Set(),
        browsers: new Set(), highVariance: false, streams: [],
    };
    groups.set(key, group);
  }
  group.runs.add(entry.runId);
  group.devices.add(JSON.stringify(DEVICE.map((trait) => entry[trait] ?? null)));
  for (const metric of METRICS) if (isNumber(cell[metric])) group.values[metric].push(cell[metric]);
  if (isNumber(cell.loadMs)) group.values[cell.loadCached === true ? 'loadWarmMs' : 'loadColdMs'].push(cell.loadMs);
  if (cell.resolvedBackend !== undefined) group.backends.add(cell.resolvedBackend);
  group.browsers.add(entry.browser);
  group.highVariance ||= cell.highVariance === true;
  if (cell.streamIncremental !== undefined) group.streams.push(cell.streamIncremental);
}

function median(values) {
  const exact = quantile([...values].sort((a, b) => a - b), 0.5);
  return Math.round(exact * 100) / 100;
}

function rowOf({ head, runs, devices, values, backends, browsers, highVariance, streams }, provisionalBy) {
  const row = { ...head, submissions: runs.size, devices: devices.size };
  for (const metric of METRICS) if (values[metric].length > 0) row[metric] = median(values[metric]);
  row.resolvedBackends = [...backends].sort(byUnits);
  row.browsers = [...browsers].sort(byUnits);
  row.highVariance = highVariance;
  if (streams.length > 0) row.streamIncremental = streams.every(Boolean);
  row.provisional = runs.size < 3 || (provisionalBy === 'devices' && devices.size < 3);
  return row;
}

export function boardRows(entries, protocols = ['localmode-bench/5', 'localmode-bench/4'], provisionalBy = 'submissions') {
  const groups = new Map();
  for (const entry of entries) {
    if (entry.flagged || !protocols.includes(entry.protocol)) continue;
    for (const cell of entry.cells) collect(groups, entry, cell);
  }
  return [...groups.values()].map((group) => rowOf(group, provisionalBy)).sort((a, b) => version(b.protocol) - version(a.protocol)
    || byUnits(a.deviceClass, b.deviceClass) || byUnits(a.deviceSubclass, b.deviceSubclass)
    || byUnits(a.benchModelId, b.benchModelId) || byUnits(a.runtimeId, b.runtimeId)
      || byUnits(a.workloadId, b.workloadId));
}

/** The index of a dataset without a ledger: file name below `index/` to bytes. */
export function rebuiltIndex(entries) {
  const ordered = [...entries].sort((a, b) => byUnits(a.createdAt, b.createdAt) || byUnits(a.path, b.path));
  const segments = [];
  let open = [];
  let bytes = 2;
  for (const entry of ordered) {
    const more = Buffer.byteLength(JSON.stringify(entry)) + (open.length > 0 ? 1 : 0);
    if (open.length > 0 && bytes + more > SEGMENT_BYTES) {
      segments.push(open);
      open = [];
      bytes = 1 + more; // brackets, and no comma before the first
    } else {
      bytes += more;
    }
    open.push(entry);
  }
  if (open.length > 0) segments.push(open);
  const files = {};
  const rows = segments.map((list, i) => {
    const path = `index/segments/${String(i + 1).padStart(5, '0')}.json`;
    const text = JSON.stringify(list);
    files[path] = text;
    return { path, entries: list.length, bytes: Buffer.byteLength(text), sha256: sha256(text) };
  });
  files['index/summary.json'] = JSON.stringify(ordered);
  files['index/manifest.json'] = JSON.stringify({ version: 1, segments: rows, entries: ordered.length,
    flagged: ordered.filter(({ flagged }) => flagged).length,
    summaryComplete: true, summaryEntries: ordered.length });
  return files;
}
