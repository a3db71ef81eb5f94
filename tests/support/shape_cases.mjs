// Shape checks (spec 02) as changes of a complete run: {name, pointers, mutate(run)}; an empty list of
// pointers means that the run must still be accepted.
import { makeRun, mmluQuality } from './run.mjs';

const UNITS = (n) => 'u'.repeat(n);
const EMOJI = '\u{1F600}';
const KINDS = ['llm', 'embed-single', 'embed-batch', 'quality-mmlu', 'quality-sts', 'error'];

/** A run in which every field of spec 01 that is read is present. Cells: 0 LLM, 1 and 2 embed, 3 and 4 quality,
  5 error. */
export function completeRun(seed = 1) {
  const run = makeRun({ seed, cells: KINDS, chunks: 12 });
  Object.assign(run.harness, {
    commit: 'b5e3827', coldStart: 'provider-caches-cleared',
    series: { id: 'series-1', index: 2, count: 5, cooldownMs: 180000, idleBeforeMs: 182090 },
  });
  const { environment: env, cells } = run;
  env.os.model = 'Desk 1';
  Object.assign(env.gpu, { device: 'rtx', description: 'a graphics card' });
  Object.assign(env, {
    power: { charging: true, level: 0.5 }, userReportedDevice: 'tower',
    userReportedHardware: { gpu: 'RTX 3060', chassis: 'desktop', ramGB: 32, otherAppsRunning: false },
    locale: { locale: 'en-US' }, display: { width: 1920 },
  });
  const llm = cells[0];
  llm.runtimeConfig = { n_threads: 4, multithread: true, device: 'webgpu', mmproj: false };
  llm.discardedIterations = [{ startT: 1, endT: 2 }];
  llm.quality = mmluQuality(3);
  llm.invalidReasons = ['none'];
  llm.memory.atError = 5;
  Object.assign(cells[5], { warmupMs: 3 });
  run.events.splice(1, 0, { t: 4995, type: 'pressure-change', detail: 'nominal' });
  run.scrubbedAt = '2026-01-15T12:00:01.000Z';
  return run;
}

const cases = [];
const refuses = (name, pointers, mutate) => cases.push({ name, pointers: [pointers].flat(), mutate });
/** What the specification asks and the binary does not do yet. */
const accepts = (name, mutate) => cases.push({ name, pointers: [], mutate });

const steps = (pointer) => pointer.split('/').slice(1).map((step) =>
  step.replaceAll('~1', '/').replaceAll('~0', '~'));
function put(run, pointer, value) {
  const path = steps(pointer);
  const last = path.pop();
  const parent = path.reduce((at, step) => at[step], run);
  if (value === undefined && Array.isArray(parent)) throw new Error(`${pointer}: cannot go`);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
}
const putting = (pointer, value) => (run) => put(run, pointer, value);
const shown = (value) => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 40)}... (${text.length})` : text;
};
const takes = (pointer, ...values) => { for (const value of values) accepts(`${pointer} may be ${shown(value)}`,
  putting(pointer, value)); };
const rejects = (pointer,
  ...values) => { for (const value of values) refuses(`${pointer} may not be ${shown(value)}`, pointer,
  putting(pointer, value)); };

accepts('a complete run', () => {});

// Types of every field that is read: what JSON offers beside the right one, and absence.
const SAMPLES = { string: 'text', number: 7, boolean: true, array: [], object: {}, null: null };
const FIELDS = { // required | optional, and the types accepted
  required: {
    string: ['/protocol', '/runId', '/createdAt', '/suite', '/harness/name', '/harness/version',
      '/environment/browser/name', '/environment/os/platform',
      '/harness/series/id', '/cells/0/cellId', '/cells/0/runtimeId', '/cells/0/workloadId', '/cells/0/status',
        '/cells/0/model/benchModelId',
      '/cells/0/model/providerModelId', '/cells/0/model/displayName', '/cells/0/iterations/1/text',
        '/cells/3/quality/taskId'],
    number: ['/schemaVersion', '/harness/series/index', '/harness/series/count', '/cells/0/load/startT',
      '/cells/0/load/endT', '/cells/0/iterations/0/startT',
      '/cells/0/iterations/0/endT', '/cells/0/iterations/0/chunks/3/t', '/cells/0/iterations/0/chunks/3/c',
        '/cells/1/iterations/0/startT',
      '/cells/1/iterations/1/endT', '/cells/1/iterations/0/count', '/cells/1/iterations/2/count',
        '/cells/3/quality/score', '/cells/3/quality/n'],
    boolean: ['/environment/gpu/available'],
    array: ['/cells', '/cells/0/iterations', '/cells/0/iterations/1/chunks', '/events'],
    object: ['/harness', '/environment', '/environment/browser', '/environment/os', '/environment/hardware',
      '/environment/flags', '/cells/0/model'],
  },
  optional: {
    string: ['/harness/appVersion', '/harness/commit', '/harness/coldStart',
      '/harness/runtimeVersions/@localmode~1webllm', '/environment/browser/version',
      '/environment/browser/engine', '/environment/os/version', '/environment/os/architecture',
        '/environment/os/model', '/environment/gpu/vendor',
      '/environment/gpu/architecture', '/environment/gpu/device', '/environment/gpu/description',
        '/environment/gpuModel', '/environment/device/type',
      '/environment/userReportedDevice', '/environment/userReportedHardware/gpu',
        '/environment/userReportedHardware/chassis', '/cells/0/runtimeVersion',
      '/cells/0/workloadKind', '/cells/0/resolvedBackend', '/cells/0/model/quantization',
        '/cells/0/iterations/0/finishReason',
      '/cells/0/iterations/0/providerUsage/fidelity', '/cells/0/memory/api', '/cells/5/error/name',
        '/cells/5/error/message', '/cells/5/error/cause',
      '/cells/5/error/causeStack', '/scrubbedAt'],
    number: ['/harness/series/cooldownMs', '/harness/series/idleBeforeMs',
      '/environment/hardware/jsHeapSizeLimitBytes', '/environment/storage/quotaBytes',
      '/environment/power/level', '/environment/screen/width', '/environment/screen/height',
        '/environment/screen/dpr', '/fingerprint/mflops',
      '/cells/0/model/sizeBytes', '/cells/0/warmupMs', '/cells/0/load/declaredBytes', '/cells/0/load/progress/1/t',
        '/cells/0/iterations/0/providerUsage/outputTokens',
      '/cells/0/discardedIterations/0/startT', '/cells/0/discardedIterations/0/endT', '/cells/0/memory/baseline',
        '/cells/0/memory/postLoad',
      '/cells/0/memory/postRun', '/cells/0/memory/atError', '/cells/3/quality/parseRate', '/cells/5/attempts/0/at',
        '/events/1/t'],
    boolean: ['/environment/browser/webdriver', '/environment/hardware/coresClamped',
      '/environment/hardware/deviceMemoryCapped', '/environment/gpu/isFallbackAdapter',
      '/environment/flags/crossOriginIsolated', '/environment/power/charging',
        '/environment/userReportedHardware/otherAppsRunning', '/cells/0/load/cached'],
    array: ['/cells/0/discardedIterations', '/cells/0/iterations/0/gates', '/cells/0/load/progress',
      '/cells/0/invalidReasons', '/cells/3/quality/outputs',
      '/cells/3/quality/details', '/cells/5/attempts', '/clientSummaries'],
    object: ['/harness/runtimeVersions', '/harness/series', '/environment/gpu', '/environment/device',
      '/environment/power', '/environment/userReportedHardware',
      '/cells/0/runtimeConfig', '/cells/0/memory', '/cells/3/quality', '/cells/0/iterations/0/providerUsage',
        '/cells/5/error', '/clientSummaries/0/ttftMs'],
  },
  'optional or null': {
    string: ['/environment/webglRenderer'],
    number: ['/environment/hardware/cores', '/environment/hardware/deviceMemoryGB',
      '/environment/timerResolutionUs', '/environment/userReportedHardware/ramGB',
      '/fingerprint/checksum', '/clientSummaries/0/ttftMs/median'],
    object: ['/fingerprint', '/cells/0/load', '/environment/storage', '/environment/screen'],
  },
};
for (const [need, types] of Object.entries(FIELDS)) {
  for (const [type, pointers] of Object.entries(types)) {
    for (const pointer of pointers) {
      for (const [other, value] of Object.entries(SAMPLES)) {
        if (other === type) continue;
        if (other === 'null' && need === 'optional or null') takes(pointer, null);
        else rejects(pointer, value);
      }
      if (need === 'required') rejects(pointer, undefined);
      else takes(pointer, undefined);
    }
  }
}
// Items of arrays of strings and numbers, which cannot be absent.
for (const [type, pointers] of Object.entries({
  string: ['/cells/0/iterations/0/gates/0', '/cells/0/invalidReasons/0', '/cells/3/quality/outputs/2'],
  number: ['/cells/3/quality/details/2', '/cells/4/quality/details/0'],
  object: ['/cells/0', '/cells/0/iterations/2', '/cells/1/iterations/2', '/cells/0/iterations/0/chunks/5',
    '/cells/0/load/progress/0', '/cells/0/discardedIterations/0',
    '/cells/5/attempts/0', '/events/1', '/clientSummaries/0'],
})) {
  for (const pointer of pointers)
    rejects(pointer, ...Object.entries(SAMPLES).filter(([other]) => other !== type).map(([, value]) => value));
}
rejects('/clientSummaries/0/cellId', undefined, null, 7, [], {}, true);

for (const root of [null, [], 'text', 7, true]) cases.push({ name: `the run may not be ${shown(root)}`,
  pointers: [''], replace: root });

rejects('/protocol', '', 'localmode-bench/4', 'localmode-bench/6', 'localmode-bench/5 ', 'localmode-bench/05',
  'Localmode-bench/5', 'localmode-bench/5\0');
rejects('/schemaVersion', 0, 1, 4, 2.5, -3);
takes('/schemaVersion', 2, 3);

rejects('/runId', '', UNITS(7), UNITS(65), 'has space', 'has.dot.in', 'slash/slash', `\u00e9${UNITS(10)}`,
  `${UNITS(10)}\n`, `${UNITS(10)}\0`, '../../../etc');
takes('/runId', UNITS(8), UNITS(64), 'AZaz09_-', '--------');

rejects('/createdAt', '9999-12-31T23:30:00-01:00', '0000-01-01T00:30:00+01:00', '', '2026-01-15',
  '2026-01-15T12:00', '2026-01-15T12:00:00', '2026-01-15 12:00:00Z', '2026-01-15t12:00:00Z', '2026-01-15T12:00:00z',
  '2026-13-15T12:00:00Z', '2026-00-15T12:00:00Z', '2026-01-00T12:00:00Z', '2026-01-32T12:00:00Z',
    '2026-02-29T12:00:00Z', '2026-04-31T12:00:00Z',
  '2026-01-15T24:00:00Z', '2026-01-15T12:60:00Z', '2026-01-15T12:00:60Z', '2026-01-15T12:00:00.Z',
    '2026-01-15T12:00:00,5Z', '2026-01-15T12:00:00+01',
  '2026-01-15T12:00:00+0100', '2026-01-15T12:00:00+24:00', '2026-01-15T12:00:00+01:60', ' 2026-01-15T12:00:00Z',
    '2026-01-15T12:00:00Z ',
  '2026-01-15T12:00:00ZZ', '2026-1-15T12:00:00Z', '02026-01-15T12:00:00Z', '+002026-01-15T12:00:00Z',
    '2100-02-29T12:00:00Z', `2026-01-15T12:00:00.${'1'.repeat(180)}Z`);
takes('/createdAt', '2026-01-15T12:00:00Z', '2026-01-15T12:00:00.1Z', '2026-01-15T12:00:00.123456789Z',
  '2026-01-15T12:00:00+01:00', '2026-01-15T12:00:00.5-11:30',
  '2026-02-28T23:59:59Z', '2026-01-15T00:00:00+23:59', `2026-01-15T12:00:00.${'1'.repeat(179)}Z`);

rejects('/suite', '', 'Quick', 'quick ', 'full');
takes('/suite', 'quick', 'standard', 'thorough', 'custom');

rejects('/harness/series/id', '', UNITS(65));
takes('/harness/series/id', 'u', UNITS(64), EMOJI.repeat(32));
rejects('/harness/series/id', EMOJI.repeat(33));
rejects('/harness/series/index', 0, -1, 1.5, 6);
takes('/harness/series/index', 1, 5);
rejects('/harness/series/count', 1001, 2.5);
for (const count of [0, -1]) refuses(`no index fits a count of ${count}`,
  ['/harness/series/count', '/harness/series/index'], putting('/harness/series/count', count));
takes('/harness/series/count', 2, 1000);
refuses('the index may not be above the count', '/harness/series/index', putting('/harness/series/count', 1));
rejects('/harness/series/cooldownMs', -1, 3600001, 0.5);
takes('/harness/series/cooldownMs', 0, 3600000);
rejects('/harness/series/idleBeforeMs', -1, 2592000001, 0.5);
takes('/harness/series/idleBeforeMs', 0, 2592000000);
rejects('/harness/series', null);
rejects('/harness/coldStart', '', 'provider-caches-cleared ', 'none');

const REPORTED = '/environment/userReportedHardware';
rejects(`${REPORTED}/gpu`, '', '   ', '\u00a0\ufeff', UNITS(65), EMOJI.repeat(33), 'a\tb', 'a\nb');
for (const unit of [0x0, 0x1f, 0x7f, 0x9f, 0x85, 0x61c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066,
  0x2069]) rejects(`${REPORTED}/gpu`, `RTX${String.fromCharCode(unit)}3060`);
for (const unit of [0x20, 0xa0, 0x200b, 0x200d, 0x2010, 0x2029, 0x202f, 0x2065, 0x206a, 0x61b,
  0xd83d]) takes(`${REPORTED}/gpu`, `RTX${String.fromCharCode(unit)}3060`);
takes(`${REPORTED}/gpu`, 'x', UNITS(64), `  ${UNITS(64)}\u00a0`, EMOJI.repeat(32));
rejects(`${REPORTED}/chassis`, '', 'Laptop', 'tablet');
takes(`${REPORTED}/chassis`, 'laptop', 'desktop', 'other');
rejects(`${REPORTED}/ramGB`, 0, 1025, 1.5, -8);
takes(`${REPORTED}/ramGB`, 1, 1024);
rejects(REPORTED, null);
takes(REPORTED, {});

refuses('no cells', '/cells', putting('/cells', []));
const manyCells = (n) => (run) => { run.cells = Array.from({ length: n },
  (_, i) => ({ ...run.cells[5], cellId: `cell-${i}` })); };
accepts('500 cells', manyCells(500));
refuses('501 cells', '/cells', manyCells(501));
refuses('a cell id twice', '/cells/4/cellId', (run) => { run.cells[4].cellId = run.cells[1].cellId; });
refuses('a cell id three times', ['/cells/2/cellId', '/cells/4/cellId'],
  (run) => { run.cells[2].cellId = run.cells[4].cellId = run.cells[1].cellId; });
accepts('cell ids that differ in case', (run) => { run.cells[4].cellId = run.cells[1].cellId.toUpperCase(); });
accepts('cell ids that differ after NUL', (run) => { run.cells[1].cellId = 'a\0b'; run.cells[2].cellId = 'a\0c'; });
refuses('cell ids that are equal with NUL', '/cells/2/cellId',
  (run) => { run.cells[1].cellId = run.cells[2].cellId = 'a\0c'; });

// Every string that goes into the index: 200 units, counted as UTF-16.
for (const pointer of ['/harness/version', '/harness/runtimeVersions/@localmode~1webllm',
  '/environment/browser/name', '/environment/browser/version', '/environment/browser/engine',
  '/environment/os/platform', '/environment/os/version', '/environment/os/architecture', '/environment/os/model',
    '/environment/gpu/vendor', '/environment/gpu/architecture',
  '/environment/gpuModel', '/environment/device/type', '/environment/userReportedDevice', '/cells/0/cellId',
    '/cells/0/runtimeId', '/cells/0/runtimeVersion',
  '/cells/0/model/benchModelId', '/cells/0/model/displayName', '/cells/0/workloadId', '/cells/0/resolvedBackend']) {
  takes(pointer, UNITS(200), EMOJI.repeat(100));
  rejects(pointer, UNITS(201), `${EMOJI.repeat(100)}x`);
}
for (const pointer of ['/harness/name', '/cells/0/model/providerModelId', '/cells/0/workloadKind',
  '/environment/webglRenderer', '/environment/gpu/description']) takes(pointer, UNITS(201));
refuses('a runtime name of 201 units', `/harness/runtimeVersions/${UNITS(201)}`,
  (run) => { run.harness.runtimeVersions[UNITS(201)] = '1'; });
accepts('a runtime name of 200 units', (run) => { run.harness.runtimeVersions[UNITS(200)] = '1'; });
const versions = (n) => (run) => { run.harness.runtimeVersions = Object.fromEntries(Array.from({ length: n },
  (_, i) => [`package-${i}`, '1.0.0'])); };
accepts('64 runtime versions', versions(64));
refuses('65 runtime versions', '/harness/runtimeVersions', versions(65));
refuses('pointers escape ~ and /', '/harness/runtimeVersions/a~1b~0c~01',
  (run) => { run.harness.runtimeVersions['a/b~c~1'] = 7; });

for (const key of ['a\0b', '\0'])
  refuses(`pointers keep NUL: ${JSON.stringify(key)}`, `/harness/runtimeVersions/${key}`,
    (run) => { run.harness.runtimeVersions[key] = 7; });
for (const key of ['\ud83d', '\u{1F600}', 'a"b\\', 'a\nb', '', '__proto__'])
  refuses(`pointers keep ${JSON.stringify(key)}`, `/harness/runtimeVersions/${key}`,
    (run) => { run.harness.runtimeVersions = JSON.parse(`{${JSON.stringify(key)}:7}`); });
for (const [name, cells] of [['absent', undefined], ['of a wrong type', 'x'], ['empty', []]])
  refuses(`client summaries are looked at when cells are ${name}`, ['/cells', '/clientSummaries/0/cellId'],
    (run) => { put(run, '/cells', cells); run.clientSummaries[0].cellId = 7; });
for (const metric of ['generatedChars', 'decodeChunksPerSec', 'prefillTokPerSecApprox'])
  cases.push({ name: `a client's ${metric} is not read, so it may be anything`, pointers: [],
    mutate: putting(`/clientSummaries/0/${metric}`, 'x') });

const many = (n, item) => Array.from({ length: n }, () => item);
takes('/cells/4/quality/details', many(1000, 0.5), [], many(3, -1e300));
rejects('/cells/4/quality/details', many(1001, 0.5));
takes('/cells/4/quality/outputs', many(1000, 'A'));
rejects('/cells/4/quality/outputs', many(1001, 'A'));
takes('/cells/3/quality/outputs/0', UNITS(500), EMOJI.repeat(250), '\ud83d', '\0');
rejects('/cells/3/quality/outputs/0', UNITS(501), EMOJI.repeat(251));
takes('/cells/5/error/causeStack', '', UNITS(4000));
rejects('/cells/5/error/causeStack', UNITS(4001), EMOJI.repeat(2001));
takes('/cells/5/attempts/0/error/causeStack', UNITS(4000));
rejects('/cells/5/attempts/0/error/causeStack', UNITS(4001));
rejects('/cells/0/runtimeConfig/n_threads', [], {});
takes('/cells/0/runtimeConfig/n_threads', null, 'auto', true, 1.5);
takes('/cells/0/iterations/0/text', '', UNITS(20000), EMOJI.repeat(10000));
rejects('/cells/0/iterations/0/text', UNITS(20001), `${EMOJI.repeat(10000)}x`);
rejects('/cells/0/status', '', 'OK', 'failed');
takes('/cells/0/status', 'ok', 'invalid', 'error', 'skipped');
rejects('/cells/0/iterations/0/chunks/0/c', -1, -1e-9);
takes('/cells/0/iterations/0/chunks/0/c', 0, -0, 0.5, 1e300);

refuses('the first iteration decides: chunks and text are required in all',
  ['/cells/1/iterations/0/text', '/cells/1/iterations/1/chunks', '/cells/1/iterations/1/text',
  '/cells/1/iterations/2/chunks', '/cells/1/iterations/2/text'],
  (run) => { run.cells[1].iterations[0].chunks = []; });
refuses('the first iteration decides: count is required in all',
  ['/cells/0/iterations/0/count', '/cells/0/iterations/1/count', '/cells/0/iterations/2/count'],
  (run) => { delete run.cells[0].iterations[0].chunks; });
refuses('text is required in cells that are not ok', '/cells/0/iterations/1/text',
  (run) => { run.cells[0].status = 'error'; delete run.cells[0].iterations[1].text; });
refuses('chunks that nobody asked for are an array all the same', '/cells/1/iterations/1/chunks',
  putting('/cells/1/iterations/1/chunks', 7));
accepts('no iterations', putting('/cells/0/iterations', []));
accepts('no chunks', putting('/cells/0/iterations/1/chunks', []));
accepts('no events', putting('/events', []));
accepts('no clientSummaries in the array', putting('/clientSummaries', []));
accepts('a client summary of an unknown cell', (run) => run.clientSummaries.push({ cellId: 'elsewhere',
  status: 'ok' }));

for (const pointer of ['/unknown', '/harness/unknown', '/environment/unknown', '/environment/gpu/limits',
  '/cells/0/unknown', '/cells/0/model/unknown', '/cells/0/iterations/0/unknown',
  '/cells/0/iterations/0/chunks/0/unknown', '/events/0/unknown', '/fingerprint/unknown',
    '/clientSummaries/0/unknown', '/cells/0/quality/unknown', '/__proto__', '/constructor', '/0'])
  for (const value of [null, { deep: [1, 'x', null] }, 'x']) accepts(`an unknown ${pointer} of ${shown(value)}`,
    (run) => Object.defineProperty(
    steps(pointer).slice(0, -1).reduce((at, step) => at[step], run), steps(pointer).at(-1),
      { value, enumerable: true, configurable: true, writable: true }));

refuses('several errors are all told', ['/runId', '/suite', '/harness/name', '/environment/os/platform',
  '/cells/2/status', '/events'], (run) => {
  run.runId = 'x';
  run.suite = 7;
  delete run.harness.name;
  run.environment.os.platform = null;
  run.cells[2].status = 'odd';
  delete run.events;
});
cases.push({ name: 'at most 50 errors', count: 50, mutate: (run) => { run.events = many(60, 7); } });
cases.push({ name: '50 errors', count: 50, mutate: (run) => { run.events = many(50, 7); } });
cases.push({ name: '49 errors', count: 49, mutate: (run) => { run.events = many(49, 7); } });

export const SHAPE_CASES = cases;

/** The broken (or still sound) run of a case. */
export function brokenRun(one) {
  if ('replace' in one) return one.replace;
  const run = completeRun();
  one.mutate(run);
  return run;
}
