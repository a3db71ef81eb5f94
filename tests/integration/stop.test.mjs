// The end of the service while bodies arrive and commits are held up.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeRun, seal } from '../support/run.mjs';
import { holdCommitLock, raw, sleep, startService } from '../support/service.mjs';

/** Sends a submission whose last bytes come MS after the rest. */
function sendLate(service, run, ms) {
  const body = JSON.stringify(run);
  const half = Math.floor(body.length / 2);
  return raw(service.port, ['POST /api/bench/submit HTTP/1.1\r\nHost: x\r\n',
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    body.slice(0, half), ms, body.slice(half)]);
}

test('a body that ends after the last wait is refused, and the service ends well', async (t) => {
  const service = await startService(t, { config: { stop_wait_ms: 0 } });
  const release = await holdCommitLock(service);
  const waiting = service.post(seal(makeRun({ id: 'waiting-run-001' }), await service.nonce()));
  const late = await Promise.all(Array.from({ length: 120 }, async (_, i) =>
    sendLate.bind(null, service, seal(makeRun({ id: `late-run-${1000 + i}`, seed: i }),
      await service.nonce()), 1140 + i))); /* the last wait is over 1000 ms after the signal */
  const sent = late.map((send) => send());
  await sleep(200);
  const ended = service.stop();
  assert.equal((await waiting).status, 503);
  for (const answer of await Promise.all(sent))
    assert.ok(!answer.text.includes(' 200 '), answer.text);
  await release();
  assert.deepEqual(await ended, { code: 0, signal: null }, service.log);
  assert.ok(service.files().includes('runs/2026/01/waiting-run-001.json'));
});

test('a second signal ends the service at once', async (t) => {
  const service = await startService(t);
  const release = await holdCommitLock(service);
  const run = seal(makeRun({ id: 'pressed-run-001' }), await service.nonce());
  const waiting = service.post(run).catch((error) => ({ error }));
  await sleep(300);
  const ended = service.stop('SIGTERM');
  await sleep(300);
  const started = Date.now();
  service.child.kill('SIGINT');
  assert.deepEqual(await ended, { code: 1, signal: null }, service.log);
  assert.ok(Date.now() - started < 1000);
  assert.match(service.log, /second signal/);
  assert.ok((await waiting).error);
  await release();
  await service.begin();
  assert.equal((await service.post(run)).status, 200); /* nobody was told that it is stored */
});

test('a reader of the log that stopped reading stops nobody', async (t) => {
  const service = await startService(t, { config: { log_level: 'debug' } });
  service.child.stderr.pause();
  for (let i = 0; i < 30; i++) {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, j) =>
      service.fetch(`/no-such-place/${i}/${j}/${'x'.repeat(200)}`, { signal: AbortSignal.timeout(10_000) })));
    for (const answer of answers) {
      assert.equal(answer.status, 404);
      await answer.arrayBuffer();
    }
  }
  service.child.kill('SIGTERM');
  await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('it did not stop')), 10_000);
    service.child.once('exit', () => { clearTimeout(late); resolve(); });
  });
  service.child.stderr.resume();
});
