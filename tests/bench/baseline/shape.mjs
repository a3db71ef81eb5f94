// Shape checks of spec 02: a list of {path, message}, empty for a run file.
import { hasHidden, instant } from './publish.mjs';

export const ERRORS_MAX = 50;

const isString = (v) => typeof v === 'string';
const isNumber = (v) => typeof v === 'number';
const isBoolean = (v) => typeof v === 'boolean';
const isArray = (v) => Array.isArray(v);
const isObject = (v) => v !== null && typeof v === 'object' && !Array.isArray(v);
const orNull = (test) => (v) => v === null || test(v);
const upTo = (units) => (v) => isString(v) && v.length <= units;
const integer = (low, high) => (v) => Number.isInteger(v) && v >= low && v <= high;
const oneOf = (...values) => (v) => values.includes(v);
const anything = () => true;

const indexed = upTo(200); // every string that goes into the index
const REQUIRED = true;

const escape = (key) => key.replaceAll('~', '~0').replaceAll('/', '~1');

class Shape {
  errors = [];

  add(path, message) {
    if (this.errors.length < ERRORS_MAX) this.errors.push({ path, message });
  }

  // The member's value when it is there and passes, else undefined.
  get(parent, path, key, test, required = false) {
    if (!Object.hasOwn(parent, key)) {
      if (required) this.add(`${path}/${escape(key)}`, 'is required');
      return undefined;
    }
    const value = parent[key];
    if (test(value)) return value;
    this.add(`${path}/${escape(key)}`, 'has a wrong type or value');
    return undefined;
  }

  // Optional members by name: {key: test}.
  members(parent, path, tests, required = false) {
    for (const [key, test] of Object.entries(tests)) this.get(parent, path, key, test, required);
  }

  // Items of an array that pass, with their pointer.
  * items(array, path, test) {
    for (const [i, item] of (array ?? []).entries()) {
      if (test(item)) yield [item, `${path}/${i}`, i];
      else this.add(`${path}/${i}`, 'has a wrong type or value');
    }
  }

  all(array, path, test) {
    for (const item of this.items(array, path, test)) void item;
  }
}

function harness(shape, run) {
  const value = shape.get(run, '', 'harness', isObject, REQUIRED);
  if (!value) return;
  const path = '/harness';
  shape.get(value, path, 'name', isString, REQUIRED);
  shape.get(value, path, 'version', indexed, REQUIRED);
  shape.members(value, path, { appVersion: isString, commit: isString,
    coldStart: oneOf('provider-caches-cleared') });
  const versions = shape.get(value, path, 'runtimeVersions', isObject);
  if (versions && Object.keys(versions).length > 64) shape.add(`${path}/runtimeVersions`, 'has more than 64 keys');
  for (const [name, version] of Object.entries(versions ?? {})) {
    if (name.length > 200 || !indexed(version)) shape.add(`${path}/runtimeVersions/${escape(name)}`,
      'is no version');
  }
  const series = shape.get(value, path, 'series', isObject);
  if (!series) return;
  const at = `${path}/series`;
  shape.get(series, at, 'id', (v) => isString(v) && v.length >= 1 && v.length <= 64, REQUIRED);
  shape.get(series, at, 'count', integer(1, 1000), REQUIRED);
  shape.get(series, at, 'index', integer(1, isNumber(series.count) ? series.count : 1000), REQUIRED);
  shape.members(series, at, { cooldownMs: integer(0, 3_600_000), idleBeforeMs: integer(0, 2_592_000_000) });
}

function environment(shape, run) {
  const value = shape.get(run, '', 'environment', isObject, REQUIRED);
  if (!value) return;
  const path = '/environment';
  const part = (key, tests, { nullable = false, required = false } = {}) => {
    const object = shape.get(value, path, key, nullable ? orNull(isObject) : isObject, required);
    if (object) shape.members(object, `${path}/${key}`, tests);
    return object;
  };
  const browser = part('browser', { version: indexed, engine: indexed, webdriver: isBoolean }, { required: true });
  if (browser) shape.get(browser, `${path}/browser`, 'name', indexed, REQUIRED);
  const os = part('os', { version: indexed, architecture: indexed, model: indexed }, { required: true });
  if (os) shape.get(os, `${path}/os`, 'platform', indexed, REQUIRED);
  part('hardware', { cores: orNull(isNumber), coresClamped: isBoolean, deviceMemoryGB: orNull(isNumber),
    deviceMemoryCapped: isBoolean, jsHeapSizeLimitBytes: isNumber }, { required: true });
  const gpu = part('gpu', { vendor: indexed, architecture: indexed, device: isString, description: isString,
    isFallbackAdapter: isBoolean });
  if (gpu) shape.get(gpu, `${path}/gpu`, 'available', isBoolean, REQUIRED);
  part('flags', { crossOriginIsolated: isBoolean }, { required: true });
  part('device', { type: indexed });
  part('storage', { quotaBytes: isNumber }, { nullable: true });
  part('power', { charging: isBoolean, level: isNumber });
  part('screen', { width: isNumber, height: isNumber, dpr: isNumber }, { nullable: true });
  part('locale', {});
  part('display', {});
  part('userReportedHardware', {
    gpu: (v) => isString(v) && v.trim().length >= 1 && v.trim().length <= 64 && !hasHidden(v),
    chassis: oneOf('laptop', 'desktop', 'other'),
    ramGB: orNull(integer(1, 1024)),
    otherAppsRunning: isBoolean,
  });
  shape.members(value, path, { webglRenderer: orNull(isString), gpuModel: indexed,
    timerResolutionUs: orNull(isNumber),
    userReportedDevice: indexed });
}

function iteration(shape, value, path, llm) {
  shape.members(value, path, { startT: isNumber, endT: isNumber }, REQUIRED);
  const chunks = shape.get(value, path, 'chunks', isArray, llm);
  for (const [chunk, at] of shape.items(chunks, `${path}/chunks`, isObject)) {
    shape.get(chunk, at, 't', isNumber, REQUIRED);
    shape.get(chunk, at, 'c', (v) => isNumber(v) && v >= 0, REQUIRED);
  }
  shape.get(value, path, 'text', upTo(20_000), llm);
  shape.get(value, path, 'count', isNumber, !llm);
  shape.get(value, path, 'dimensions', isNumber);
  shape.get(value, path, 'finishReason', isString);
  const usage = shape.get(value, path, 'providerUsage', isObject);
  if (usage) shape.members(usage, `${path}/providerUsage`, { outputTokens: isNumber, fidelity: isString });
  shape.all(shape.get(value, path, 'gates', isArray), `${path}/gates`, isString);
}

function failure(shape, parent, at) {
  const value = shape.get(parent, at, 'error', isObject);
  if (!value) return;
  shape.members(value, `${at}/error`, { name: isString, message: isString, cause: isString, causeName: isString,
    causeStack: upTo(4000) });
}

function load(shape, cell, path) {
  const value = shape.get(cell, path, 'load', orNull(isObject));
  if (!value) return;
  const at = `${path}/load`;
  shape.members(value, at, { startT: isNumber, endT: isNumber }, REQUIRED);
  shape.members(value, at, { cached: isBoolean, declaredBytes: isNumber });
  for (const [step, where] of shape.items(shape.get(value, at, 'progress', isArray), `${at}/progress`, isObject)) {
    shape.members(step, where, { t: isNumber, pct: isNumber });
  }
}

function quality(shape, cell, path) {
  const value = shape.get(cell, path, 'quality', isObject);
  if (!value) return;
  const at = `${path}/quality`;
  const list = (key, test) => {
    const items = shape.get(value, at, key, isArray);
    if (items?.length > 1000) shape.add(`${at}/${key}`, 'has more than 1,000 items');
    shape.all(items, `${at}/${key}`, test);
  };
  shape.members(value, at, { taskId: isString, score: isNumber, n: isNumber }, REQUIRED);
  shape.get(value, at, 'parseRate', isNumber);
  list('outputs', upTo(500));
  list('details', isNumber);
}

function cell(shape, value, path, seen) {
  const id = shape.get(value, path, 'cellId', indexed, REQUIRED);
  if (seen.has(id)) shape.add(`${path}/cellId`, 'stands twice');
  if (id !== undefined) seen.add(id);
  shape.members(value, path, { runtimeId: indexed, workloadId: indexed,
    status: oneOf('ok', 'invalid', 'error', 'skipped') }, REQUIRED);
  shape.members(value, path, { runtimeVersion: indexed, workloadKind: isString, resolvedBackend: indexed,
    warmupMs: isNumber });
  for (const [key, setting] of Object.entries(shape.get(value, path, 'runtimeConfig', isObject) ?? {})) {
    if (setting !== null && typeof setting === 'object') shape.add(`${path}/runtimeConfig/${escape(key)}`,
      'is no plain value');
  }
  const model = shape.get(value, path, 'model', isObject, REQUIRED);
  if (model) {
    shape.members(model, `${path}/model`, { benchModelId: indexed, providerModelId: isString,
      displayName: indexed }, REQUIRED);
    shape.members(model, `${path}/model`, { quantization: isString, sizeBytes: isNumber });
  }
  load(shape, value, path);
  const iterations = shape.get(value, path, 'iterations', isArray, REQUIRED);
  const llm = isObject(iterations?.[0]) && Object.hasOwn(iterations[0], 'chunks');
  for (const [item, at] of shape.items(iterations, `${path}/iterations`, isObject)) iteration(shape, item, at, llm);
  const discarded = shape.get(value, path, 'discardedIterations', isArray);
  for (const [item, at] of shape.items(discarded, `${path}/discardedIterations`, isObject)) {
    shape.members(item, at, { startT: isNumber, endT: isNumber });
  }
  const memory = shape.get(value, path, 'memory', isObject);
  if (memory) {
    shape.members(memory, `${path}/memory`, { api: isString, baseline: isNumber, postLoad: isNumber,
      postRun: isNumber, atError: isNumber });
  }
  quality(shape, value, path);
  shape.all(shape.get(value, path, 'invalidReasons', isArray), `${path}/invalidReasons`, isString);
  for (const [attempt, at] of shape.items(shape.get(value, path, 'attempts', isArray), `${path}/attempts`,
    isObject)) {
    shape.get(attempt, at, 'at', isNumber);
    failure(shape, attempt, at);
  }
  failure(shape, value, path);
}

const METRICS = ['ttftMs', 'decodeCharsPerSec', 'totalMs', 'overallCharsPerSec', 'singleLatencyMs',
  'batchTextsPerSec'];

export function checkShape(run, { anyProtocol = false } = {}) {
  const shape = new Shape();
  if (!isObject(run)) {
    shape.add('', 'is no object');
    return shape.errors;
  }
  const protocols = anyProtocol ? /^localmode-bench\/[1-9]\d{0,8}$/ : /^localmode-bench\/5$/;
  shape.get(run, '', 'protocol', (v) => isString(v) && protocols.test(v), REQUIRED);
  shape.get(run, '', 'schemaVersion', integer(anyProtocol ? 1 : 2, 3), REQUIRED);
  shape.get(run, '', 'runId', (v) => isString(v) && /^[A-Za-z0-9_-]{8,64}$/.test(v), REQUIRED);
  shape.get(run, '', 'createdAt', (v) => indexed(v) && !Number.isNaN(instant(v)), REQUIRED);
  harness(shape, run);
  shape.get(run, '', 'suite', oneOf('quick', 'standard', 'thorough', 'custom'), REQUIRED);
  environment(shape, run);
  const fingerprint = shape.get(run, '', 'fingerprint', orNull(isObject));
  if (fingerprint) {
    shape.members(fingerprint, '/fingerprint', { mflops: isNumber, n: isNumber, iterations: isNumber,
      durationMs: isNumber,
      checksum: orNull(isNumber) });
  }
  const cells = shape.get(run, '', 'cells', (v) => isArray(v) && v.length >= 1 && v.length <= 500, REQUIRED);
  const seen = new Set();
  for (const [item, at] of shape.items(cells, '/cells', isObject)) cell(shape, item, at, seen);
  for (const [event, at] of shape.items(shape.get(run, '', 'events', isArray, REQUIRED), '/events', isObject)) {
    shape.members(event, at,
      { t: isNumber, type: isString, detail: event.type === 'pressure-change' ? isString : anything });
  }
  for (const [client, at] of shape.items(shape.get(run, '', 'clientSummaries', isArray), '/clientSummaries',
    isObject)) {
    shape.get(client, at, 'cellId', isString, REQUIRED);
    for (const metric of METRICS) {
      const sample = shape.get(client, at, metric, isObject);
      if (sample) shape.get(sample, `${at}/${metric}`, 'median', orNull(isNumber));
    }
  }
  shape.members(run, '', { nonce: isString, scrubbedAt: isString });
  return shape.errors;
}
