// A remote with thousands of runs: the start, the memory, and what one more submission costs there and in a
// small one.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { makeArchive } from '../support/archive.mjs';
import { startFileRemote, startRemote } from '../support/remote.mjs';
import { assertAll, checkDataset, FULL, postAll, sealedRuns, startRemoteService } from '../support/remote_service.mjs';

const SMALL = 100, LARGE = FULL ? 10_000 : 2_000;
const MEASURED = 20;
const ENTRY = 9000; // bytes of an index entry, as the reference dataset has them
const SUMMARY_LIMIT = 100_000; // both are past it
const RUNS_OF = FULL ? [3_000, 70_000] : 10_000;
const MEMORY_MB = process.env.ASAN_OPTIONS ? 2000 : 400;

async function startOn(t, runs) {
  const folder = path.join(startFileRemote(t, { empty: true }).folder, 'archive.git');
  const made = await makeArchive(folder, runs, { runBytes: RUNS_OF, entryBytes: ENTRY, summaryLimit: SUMMARY_LIMIT,
    freshSegment: true });
  const remote = await startRemote(t, { from: folder });
  const cloning = performance.now();
  const service = await startRemoteService(t, remote, { config: { summary_limit: SUMMARY_LIMIT, pushes_per_minute: 1000 } });
  await service.ready(120_000);
  t.diagnostic(`${made.runs} runs in ${made.segments} segments: first start, with the clone, ${Math.round(performance.now() - cloning)} ms`);
  await service.stop();
  const started = performance.now();
  await service.begin();
  await service.ready();
  const ms = performance.now() - started;
  t.diagnostic(`${made.runs} runs: start with a mirror in place ${Math.round(ms)} ms`);
  return { ...made, remote, service, ms, cpu: 0, results: [], before: remote.pushes().length };
}

async function submitOne(side, run) {
  const before = side.service.cpuSeconds();
  const [result] = await postAll(side.service, [run]);
  side.cpu += side.service.cpuSeconds() - before;
  side.results.push(result);
}

test(`a submission to ${LARGE} runs costs what it costs with ${SMALL}`, { timeout: 500_000 }, async (t) => {
  const small = await startOn(t, SMALL);
  const large = await startOn(t, LARGE);
  if (FULL) assert.ok(large.ms < 5000, `the start takes ${large.ms} ms`);
  const sides = [small, large];
  const runs = await Promise.all(sides.map(({ service }) => sealedRuns(service, 'one-more', MEASURED + 2)));
  for (let i = 0; i < runs[0].length; i++) // in turn, so that the machine's moods meet both
    for (const [j, side] of sides.entries()) {
      await submitOne(side, runs[j][i]);
      if (i === 1) Object.assign(side, { cpu: 0, before: side.remote.pushes().length }); // the first two warm up
    }
  for (const side of sides) {
    assertAll(side.results, 200);
    const pushes = side.remote.pushes().slice(side.before);
    side.pushed = pushes.reduce((sum, { bytes }) => sum + bytes, 0) / MEASURED;
    side.cpuMs = side.cpu / MEASURED * 1000;
    side.memory = side.service.peakMemory();
    t.diagnostic(`${side.runs} runs: ${side.cpuMs.toFixed(1)} ms CPU and ${Math.round(side.pushed)} bytes a submission, in ${pushes.length} pushes; most memory ${Math.round(side.memory)} MB`);
  }
  const ratio = (key) => large[key] / small[key];
  t.diagnostic(`ratios: CPU ${ratio('cpuMs').toFixed(2)}, bytes ${ratio('pushed').toFixed(2)}`);
  assert.ok(large.memory < MEMORY_MB, `${large.memory} MB`);
  assert.ok(ratio('pushed') < 1.3, `bytes: ${ratio('pushed')}`);
  if (FULL) assert.ok(ratio('cpuMs') < 1.3, `CPU: ${ratio('cpuMs')}`);
  for (const side of sides) await checkDataset(side.remote);
  assert.equal((await large.service.json('/api/bench/leaderboard')).body.entries, large.runs + MEASURED + 2);
  await large.service.checkSecrets();
});
