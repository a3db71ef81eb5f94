// Scrub and index entry (spec 03) by the command line: what each step takes away or derives.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { digestOf, entryOf, verdict } from '../bench/baseline.mjs';
import { Folder, run } from '../support/checker.mjs';
import { makeRun, seal } from '../support/run.mjs';
import { completeRun } from '../support/shape_cases.mjs';

const folder = new Folder();
after(() => folder.close());
let files = 0;

function output(command, content) {
  const { status, stdout, stderr } = run([command, folder.write(`${files++}.json`, content)]);
  assert.equal(status, 0, stderr);
  return stdout.toString();
}

const scrubbed = (content) => JSON.parse(output('scrub', content));
const entry = (change) => {
  const made = completeRun();
  change(made);
  return JSON.parse(output('entry', seal(made)));
};

test('a run without anything to remove is published as it came, but for the nonce', () => {
  const sealed = seal(completeRun(), 'a-nonce');
  const { nonce, ...published } = sealed;
  assert.equal(output('scrub', sealed), JSON.stringify(published));
  const old = seal({ ...completeRun(), schemaVersion: 2 });
  assert.equal(output('scrub', old), JSON.stringify(old), 'no schema is raised for nothing');
});

test('a digest that covered the nonce is recomputed without it', () => {
  const before = Date.now();
  const sealed = seal({ ...makeRun(), schemaVersion: 2 }, 'a-nonce', { legacy: true });
  const found = scrubbed(sealed);
  assert.equal('nonce' in found, false);
  assert.equal(found.schemaVersion, 3);
  assert.equal(found.digest, digestOf(found));
  assert.match(found.scrubbedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(Date.parse(found.scrubbedAt) >= before && Date.parse(found.scrubbedAt) <= Date.now());
  assert.deepEqual(Object.keys(found), [...Object.keys(sealed).filter((key) => !['nonce', 'digest'].includes(key)),
    'digest', 'scrubbedAt'].sort(
    (a, b) =>
      Object.keys(sealed).concat('scrubbedAt').indexOf(a) - Object.keys(sealed).concat('scrubbedAt').indexOf(b)));
});

const STEPS = {
  'the time zone': (env) => { env.locale = { a: 1, timeZone: 'Europe/Vienna',
    b: 2 }; return () => { env.locale = { a: 1, b: 2 }; }; },
  'its offset, null or not': (env) => { env.locale = { timeZoneOffsetMinutes: null }; return () => { env.locale = {}; }; },
  'the calendar': (env) => { env.locale.calendar = 'gregory'; return () => { delete env.locale.calendar; }; },
  languages: (env) => { env.languages = ['de', 'en']; return () => { delete env.languages; }; },
  'languages of an odd type': (env) => { env.languages = 'de'; return () => { delete env.languages; }; },
  'the charging time': (env) => { env.power.chargingTimeSec = null; return () => { delete env.power.chargingTimeSec; }; },
  'the discharging time': (env) => { env.power = { dischargingTimeSec: 100,
    charging: true }; return () => { env.power = { charging: true }; }; },
  'reduced motion': (env) => { env.display.prefersReducedMotion = false; return () => { delete env.display.prefersReducedMotion; }; },
  'the colour scheme': (env) => { env.display.prefersColorScheme = 'dark'; return () => { delete env.display.prefersColorScheme; }; },
};
for (const [level, quarter] of [[0.1249, 0], [0.125, 0.25], [0.3, 0.25], [0.374999, 0.25], [0.375, 0.5],
  [0.62, 0.5], [0.63, 0.75], [0.875, 1], [0.99, 1], [1.2, 1.25], [-0.1, 0], [-0.125, 0]])
  STEPS[`a battery level of ${level}`] = (env) => { env.power.level = level; return () => { env.power.level = quarter; }; };
for (const [gpu, clean] of [['  RTX 3060', 'RTX 3060'], ['RTX   3060', 'RTX 3060'],
  ['RTX\u00a0\u30003060\ufeff', 'RTX 3060'], ['RTX\u20283060', 'RTX 3060'],
  ['RTX\u00a03060', 'RTX 3060']])
  STEPS[`white space in a reported GPU: ${JSON.stringify(gpu)}`] = (env) => { env.userReportedHardware.gpu = gpu; return () => { env.userReportedHardware.gpu = clean; }; };

test('what the scrub takes away or changes', async (t) => {
  for (const [name, step] of Object.entries(STEPS)) {
    await t.test(name, () => {
      for (const version of [2, 3]) {
        const made = { ...makeRun(), schemaVersion: version };
        Object.assign(made.environment, { locale: { locale: 'de' }, power: { charging: true, level: 0.5 },
          display: { width: 5 }, userReportedHardware: { gpu: 'GPU' } });
        const undo = step(made.environment);
        const given = seal(made, 'n');
        const found = scrubbed(given);
        undo();
        const { scrubbedAt } = found;
        const expected = { ...seal(made), schemaVersion: 3, scrubbedAt };
        expected.digest = digestOf(expected);
        assert.equal(JSON.stringify(found), JSON.stringify(expected));
      }
    });
  }
});

test('what the scrub leaves alone', async (t) => {
  const untouched = {
    'levels that are quarters': (env) => { env.power = { level: 0.75 }; },
    'level 0': (env) => { env.power = { level: 0 }; },
    'the same names elsewhere': (env) => { env.timeZone = 'x'; env.browser.languages = ['x']; env.power = { calendar: 1 }; },
    'locale, power and display absent': (env) => { delete env.locale; delete env.power; delete env.display; },
    'a clean reported GPU': (env) => { env.userReportedHardware = { gpu: 'RTX\u200b3060 x' }; },
    'a reported GPU of 64 units': (env) => { env.userReportedHardware = { gpu: '\u{1F600}'.repeat(32) }; },
  };
  for (const [name, change] of Object.entries(untouched)) {
    await t.test(name, () => {
      const made = makeRun();
      change(made.environment);
      const sealed = seal({ ...made, schemaVersion: 2 });
      assert.equal(output('scrub', sealed), JSON.stringify(sealed));
    });
  }
});

test('scrubbedAt and digest that exist keep their places', () => {
  const made = makeRun();
  made.environment.languages = ['de'];
  const { protocol, ...rest } = made;
  const found = scrubbed({ protocol, digest: 'x', scrubbedAt: 'before', ...rest });
  assert.deepEqual(Object.keys(found).slice(0, 3), ['protocol', 'digest', 'scrubbedAt']);
  assert.notEqual(found.scrubbedAt, 'before');
  assert.equal(found.digest, digestOf(found));
  assert.deepEqual(Object.keys(scrubbed(made)).slice(-2), ['scrubbedAt', 'digest']);
});

test('an entry has its keys in order, and none without a source', () => {
  const whole = completeRun();
  const sealed = seal(whole);
  const text = output('entry', sealed);
  assert.equal(text, JSON.stringify(entryOf(sealed, verdict(sealed))));
  assert.deepEqual(Object.keys(JSON.parse(text)), ['runId', 'createdAt', 'protocol', 'suite', 'deviceClass',
    'deviceSubclass', 'browser', 'browserVersion', 'engine', 'os',
    'osVersion', 'architecture', 'gpuVendor', 'gpuArchitecture', 'gpuModel', 'deviceType', 'deviceModel', 'cores',
      'deviceMemoryGB', 'jsHeapSizeLimitBytes', 'storageQuotaBytes',
    'crossOriginIsolated', 'webgpu', 'timerResolutionUs', 'webdriver', 'harnessVersion', 'runtimeVersions',
      'userReportedDevice', 'reportedGpu', 'reportedChassis', 'reportedRamGB',
    'flagged', 'path', 'cells']);
  const cells = Object.fromEntries(JSON.parse(text).cells.map((cell) => [cell.cellId, Object.keys(cell)]));
  const common = ['cellId', 'runtimeId', 'runtimeVersion', 'benchModelId', 'modelName', 'workloadId',
    'resolvedBackend'];
  assert.deepEqual(cells['webllm/smollm2-135m/chat-pp128-tg128'],
    [...common, 'ttftMs', 'decodeCharsPerSec', 'overallCharsPerSec', 'streamIncremental', 'loadMs', 'loadCached',
    'qualityScore', 'qualityParseRate', 'highVariance']);
  assert.deepEqual(cells['transformers-wasm/bge-small-en/embed-single'],
    [...common, 'singleLatencyMs', 'loadMs', 'loadCached', 'highVariance']);
  assert.deepEqual(Object.keys(cells).length, whole.cells.filter(({ status }) => status === 'ok').length,
    'only ok cells');
  const bare = entry(({ environment: env, harness }) => {
    for (const key of ['gpu', 'gpuModel', 'device', 'storage', 'timerResolutionUs', 'userReportedDevice',
      'userReportedHardware']) delete env[key];
    env.browser = { name: 'Firefox' };
    env.os = { platform: 'Linux', model: '' };
    env.hardware = { cores: null, deviceMemoryGB: null };
    env.flags = {};
    delete harness.runtimeVersions;
  });
  assert.deepEqual(Object.keys(bare), ['runId', 'createdAt', 'protocol', 'suite', 'deviceClass', 'deviceSubclass',
    'browser', 'os', 'harnessVersion', 'flagged', 'path', 'cells']);
});

test('device names', async (t) => {
  const cases = [ // platform, gpu, gpuModel, deviceClass, deviceSubclass
    ['Android', { vendor: 'qualcomm', architecture: 'adreno-6xx' }, 'Adreno (TM) 650',
      'android/qualcomm-adreno-6xx', 'android/adreno-650'],
    ['Linux', { vendor: 'intel', architecture: 'xe-lpg' }, 'Mesa Intel(R) Arc(tm) Graphics (MTL)',
      'linux/intel-xe-lpg', 'linux/intel-xe-lpg'],
    ['Linux', { vendor: 'intel', architecture: 'xe' }, 'Mesa Intel(R) Arc(tm) A770 (DG2)', 'linux/intel-xe',
      'linux/intel-arc-a770-dg2'],
    ['macOS', { vendor: 'apple', architecture: 'metal-3' }, 'Apple M2 Pro', 'macos/apple-metal-3',
      'macos/apple-m2-pro'],
    ['Windows', { vendor: 'nvidia', architecture: 'ampere' }, '  NVIDIA GeForce RTX 3060  ',
      'windows/nvidia-ampere', 'windows/nvidia-geforce-rtx-3060'],
    ['Windows', { vendor: 'nvidia' }, 'NVIDIA GeForce GTX 980, OR SIMILAR', 'windows/nvidia', 'windows/nvidia'],
    ['Chrome \t OS\u00a0', { architecture: 'gen-9' }, '', 'chrome-os-/gpu-gen-9', 'chrome-os-/gpu-gen-9'],
    ['Chrome OS', { vendor: '', architecture: 'gen-9' }, 'no digit', 'chrome-os/gen-9', 'chrome-os/gen-9'],
    ['X', { vendor: 'Intel', architecture: '' }, '\u0661\u0662', 'x/Intel', 'x/Intel'],
    ['X', {}, '---9---', 'x/gpu', 'x/9'],
    ['X', {}, 'Iris Xe 96', 'x/gpu', 'x/iris-xe-96'],
    ['X', {}, 'Mesa9 (tm)', 'x/gpu', 'x/mesa9'],
    ['X', {}, 'mesa\u00a0\u3000(R)9', 'x/gpu', 'x/9'],
    ['X', {}, '(tm)mesa 9', 'x/gpu', 'x/9'],
    ['X', {}, 'a (C) b(TM)9\u00e98', 'x/gpu', 'x/a-b9-8'],
    ['\u0130OS', {}, '', 'i\u0307os/gpu', 'i\u0307os/gpu'],
    ['Linux', { available: false, vendor: 'intel' }, 'HD 620', 'linux/no-webgpu', 'linux/no-webgpu'],
    ['Linux', undefined, 'HD 620', 'linux/no-webgpu', 'linux/no-webgpu'],
  ];
  for (const [platform, gpu, gpuModel, deviceClass, deviceSubclass] of cases) {
    await t.test(`${JSON.stringify(gpuModel)} on ${JSON.stringify(platform)} is ${deviceSubclass}`, () => {
      const found = entry(({ environment: env }) => {
        env.os.platform = platform;
        env.gpuModel = gpuModel;
        env.gpu = gpu && { available: true, ...gpu };
        if (!gpu) delete env.gpu;
      });
      assert.deepEqual([found.deviceClass, found.deviceSubclass], [deviceClass, deviceSubclass]);
    });
  }
});

test('the path is the verdict, the UTC month and the id', async (t) => {
  const cases = [['2026-01-31T23:59:59.999Z', '2026/01'], ['2026-02-01T00:30:00+01:00', '2026/01'],
    ['2026-01-31T23:30:00-01:00', '2026/02'], ['2026-12-31T23:59:00-00:01', '2027/01'],
    ['2024-02-29T00:00:00Z', '2024/02'], ['2024-03-01T00:00:00+00:01', '2024/02'],
      ['2026-01-01T00:00:00+23:59', '2025/12']];
  for (const [createdAt, month] of cases) {
    await t.test(createdAt, () => {
      const clean = entry((made) => { made.createdAt = createdAt; });
      assert.equal(clean.path, `runs/${month}/${clean.runId}.json`);
      assert.equal(clean.flagged, false);
      const flagged = entry((made) => { made.createdAt = createdAt; made.fingerprint = null; });
      assert.equal(flagged.path, `quarantine/${month}/${flagged.runId}.json`);
      assert.equal(flagged.flagged, true);
    });
  }
});
