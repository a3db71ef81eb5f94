// kill -9 in the middle of a stream of submissions: what was answered with 200 is there, nonces stay spent.
import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { canonical, makeRun, seal, sha256 } from '../support/run.mjs';
import { readLedger, sleep, startService } from '../support/service.mjs';

const ROUNDS = Number(process.env.BENCHLEDGER_KILLS ?? 30);
const BATCH = 12;

test(`${ROUNDS} kills lose nothing that was acknowledged`, async (t) => {
  const service = await startService(t, { env: { BENCH_NONCE_SECRET: 'stays over restarts' } });
  const acknowledged = [];
  let made = 0, unanswered = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const sealed = [];
    for (let i = 0; i < BATCH; i++, made++)
      sealed.push(seal(makeRun({ id: `killed-run-${String(made).padStart(5, '0')}`, seed: made,
        cells: ['embed-single', 'llm'], chunks: 25 }), await service.nonce()));
    const posts = sealed.map(async (run, i) => {
      await sleep(i * 3);
      const answer = await service.post(run).catch(() => null);
      if (answer?.status === 200) acknowledged.push({ run, ...answer.body });
      else unanswered++;
    });
    await sleep(5 + (round * 7) % 45);
    await service.stop('SIGKILL');
    await Promise.all(posts);
    const lock = path.join(service.store, 'refs', 'heads', 'main.lock');
    if (round % 3 === 0 && !existsSync(lock)) { /* git's own lock, left behind by a kill */
      closeSync(openSync(lock, 'w'));
      const old = Date.now() / 1000 - 60;
      utimesSync(lock, old, old);
    }
    await service.begin();
  }
  t.diagnostic(`${acknowledged.length} of ${made} acknowledged, ${unanswered} cut off`);
  assert.ok(acknowledged.length > 0 && unanswered > 0);

  service.git('fsck', '--full');
  const events = readLedger(service, { canonical, sha256 });
  const byRun = new Map(events.map((event) => [event.runId, event]));
  assert.equal(byRun.size, events.length, 'no run twice');
  assert.equal(new Set(events.map((event) => event.nonceSha256)).size, events.length);
  const summary = JSON.parse(service.file('index/summary.json')).map((entry) => entry.path);
  assert.deepEqual(summary, events.map((event) => event.path));
  assert.deepEqual(service.files().filter((name) => name.startsWith('runs/')).sort(), summary.sort());
  for (const { run, path: place, commit } of acknowledged) {
    assert.equal(byRun.get(run.runId)?.path, place);
    assert.ok(service.git('cat-file', '-t', commit).startsWith('commit'));
    /* Its nonce is spent across all restarts. */
    const other = seal(makeRun({ id: `${run.runId}-b`, seed: 1, cells: ['embed-single'] }), run.nonce);
    assert.equal((await service.post(other)).body.code, 'nonce-used');
  }
});
