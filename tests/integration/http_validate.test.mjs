// POST /api/bench/validate over mutated runs: the same verdict, scrub, path and entry as the baseline.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RULES_VERSION } from '../bench/baseline/rules.mjs';
import { checkShape, digestState, entryOf, InvalidJson, isQuarantined, instant, readJson, scrub,
  verdict } from '../bench/baseline.mjs';
import { mutatedFile } from '../support/mutate.mjs';
import { Random } from '../support/prng.mjs';
import { startService } from '../support/service.mjs';

const HOURS = 3_600_000;
const plain = (value) => JSON.parse(JSON.stringify(value));
const brief = (flags) => flags.map(({ code, severity, cellId }) => [code, severity, cellId]);

/** Pointers of shape errors at intake, which bounds createdAt when all else is sound. */
function intakeErrors(run) {
  const errors = new Set(checkShape(run).map(({ path }) => path));
  if (errors.size > 0) return [...errors].sort();
  const time = instant(run.createdAt);
  if (time < Date.UTC(2026, 0, 1) || time > Date.now() + 48 * HOURS) errors.add('/createdAt');
  return [...errors].sort();
}

function expectedOf(bytes) {
  let run;
  try {
    run = readJson(bytes);
  } catch (error) {
    assert.ok(error instanceof InvalidJson);
    return { status: 400, code: 'invalid-json' };
  }
  const state = digestState(run);
  if (state !== 'ok' && state !== 'legacy') return { status: 400, code: 'digest-mismatch' };
  const errors = intakeErrors(run);
  if (errors.length > 0) return { status: 400, code: 'invalid-shape', errors };
  return { status: 200, run, judged: verdict(run, { anyProtocol: false }) };
}

function compare(answer, { status, code, errors, run, judged }) {
  const { body } = answer;
  assert.equal(answer.status, status, JSON.stringify(body).slice(0, 500));
  if (status !== 200) {
    assert.equal(body.code, code);
    if (errors?.length < 50) assert.deepEqual([...new Set(body.errors.map(({ path }) => path))].sort(), errors);
    return;
  }
  const flagged = isQuarantined(judged.flags);
  const { path, ...rest } = body;
  assert.deepEqual([body.ok, body.flagged, body.rulesVersion, path], [true, flagged, RULES_VERSION, entryOf(run, judged).path]);
  assert.deepEqual(brief(body.flags), brief(judged.flags));
  assert.equal(JSON.stringify(body.summaries), JSON.stringify(judged.summaries));
  const published = structuredClone(run);
  assert.deepEqual(body.removed, scrub(published, 'any time'));
  assert.deepEqual(body.entry, plain(entryOf(published, judged)), 'the entry is the published form\'s');
  assert.equal(typeof rest.digest, 'string');
}

test('validate agrees with the baseline on mutated runs and stores nothing', async (t) => {
  const service = await startService(t);
  const random = new Random(20260117);
  const counts = {};
  for (let i = 0; i < 300; i++) {
    const bytes = mutatedFile(random, []);
    const expected = expectedOf(bytes);
    const answer = await service.post(bytes, { place: '/api/bench/validate' });
    counts[expected.code ?? 'judged'] = (counts[expected.code ?? 'judged'] ?? 0) + 1;
    try {
      compare(answer, expected);
    } catch (error) {
      error.message = `file ${i}: ${error.message}\n${bytes.toString().slice(0, 3000)}`;
      throw error;
    }
  }
  t.diagnostic(JSON.stringify(counts));
  assert.ok(counts.judged > 60);
  assert.ok(!service.files().some((name) => /^(runs|quarantine|ledger)\//.test(name)), 'nothing is stored');
});
