// Strings that try to leave their place on a page, and a run that has them in every field that is shown.
import { makeRun } from '../../support/run.mjs';

/** Sets `globalThis.broken` when any of it is taken for markup that runs. */
const MARKUP = `"'><img src=x onerror="globalThis.broken=1"><script>globalThis.broken=1</script><svg onload=globalThis.broken=1>`;
const BIDI = '\u202Egnirts desrever a\u202C \u2066isolate\u2069 \u200F\u061C';
const ZALGO = `Z${'\u0301\u0302\u0328\u035C'.repeat(10)}`;
const CONTROLS = '\u0000\u0007\u001b[31m\u0085\ud83d';
const WIDE = 'W'.repeat(190);

/** Short enough for what goes into the index (200 UTF-16 units). */
export const SHORT = [MARKUP, BIDI, ZALGO, CONTROLS, WIDE, '{{7*7}}${7*7}', 'javascript:globalThis.broken=1', '\u{1F468}\u200D\u{1F469}'.repeat(30)];
/** 100 KB and more of emoji. */
const EMOJI = '\u{1F525}\u{1F3FD}';
export const LONG = EMOJI.repeat(13000);
const LONGISH = EMOJI.repeat(500);

/** A run whose every displayed text is hostile; valid by shape, and flagged by nothing that is in a text. */
export function hostileRun(id, kind = 0) {
  const at = (i) => SHORT[(kind + i) % SHORT.length];
  const run = makeRun({ id, seed: 7 + kind });
  run.harness.version = at(0);
  run.harness.runtimeVersions = { [at(1)]: at(2), '__proto__x': at(3) };
  run.harness.appVersion = LONGISH;
  const { environment } = run;
  Object.assign(environment.browser, { name: at(1), version: at(2), engine: at(3), more: LONGISH });
  Object.assign(environment.os, { platform: at(4), version: at(5), architecture: at(6), model: at(0) });
  Object.assign(environment.gpu, { vendor: at(2), architecture: at(3), device: LONG, description: MARKUP + LONG });
  environment.gpuModel = at(4);
  environment.webglRenderer = LONGISH;
  environment.userReportedDevice = at(5);
  environment.device.type = at(6);
  environment.userReportedHardware = { gpu: MARKUP.slice(0, 60), chassis: 'laptop', ramGB: 16, otherAppsRunning: true };
  environment[MARKUP] = { [BIDI]: [MARKUP, { [MARKUP]: MARKUP }], [LONGISH]: LONGISH };
  run.cells.forEach((cell, i) => {
    Object.assign(cell, { cellId: `${i}${at(i)}`.slice(0, 200), runtimeId: at(i + 1), runtimeVersion: at(i + 2),
      workloadId: at(i + 3), workloadKind: MARKUP, resolvedBackend: at(i + 4) });
    Object.assign(cell.model, { benchModelId: at(i + 5), displayName: at(i + 6), providerModelId: LONGISH, quantization: MARKUP });
    cell.runtimeConfig = { [MARKUP]: MARKUP, [BIDI]: LONGISH };
    for (const iteration of cell.iterations) {
      iteration.finishReason = MARKUP;
      iteration.gates = [MARKUP, LONGISH];
    }
    cell.attempts = [{ at: 1, error: { name: MARKUP, message: LONGISH, cause: MARKUP, causeName: BIDI, causeStack: MARKUP } }];
    cell.discardedIterations = [{ startT: 1, endT: 2, note: MARKUP }];
    cell.invalidReasons = [MARKUP, BIDI];
  });
  run.cells.push({ ...structuredClone(run.cells[0]), cellId: 'failed', status: 'error', iterations: [],
    error: { name: MARKUP, message: MARKUP, cause: LONGISH, causeName: ZALGO, causeStack: BIDI } });
  run.events.push({ t: 6000, type: MARKUP, detail: MARKUP }, { t: 6001, type: LONG, detail: LONG });
  run.clientSummaries = undefined;
  run[MARKUP] = MARKUP;
  return run;
}
