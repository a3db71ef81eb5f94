// Secret-like strings are refused before anything is committed, and cost their address something.
// No token stands in this file as a whole: our own host would decline it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { corpusFiles, NO_CORPUS } from '../support/corpus.mjs';
import { makeRun, seal } from '../support/run.mjs';
import { startService } from '../support/service.mjs';

const TOKEN = `gh${'p_'}${'aB3'.repeat(12)}`;
const baited = (id, text, seed = 1) => ({ ...makeRun({ id, seed }), note: `it said ${text} at the end` });

test('bait is 422 that names its kind and not its text; nothing is committed', async (t) => {
  const service = await startService(t);
  const before = await service.submit(makeRun({ id: 'clean-run-01' }));
  assert.equal(before.status, 200);
  for (const [text, word] of [[TOKEN, 'github-token'], [`AK${'IA'}${'A7'.repeat(8)}`, 'aws-access-key'],
    [`sk_${'live_'}${'x'.repeat(24)}`, 'stripe-key'],
    [`-----BEGIN PRIVATE ${'KEY-----'}\n${'M'.repeat(64)}\n`, 'private-key']]) {
    const nonce = await service.nonce();
    const run = baited('bait-run-01', text);
    const answer = await service.post(seal(run, nonce));
    assert.equal(answer.status, 422, JSON.stringify(answer.body));
    assert.equal(answer.body.code, 'store-declined');
    assert.equal(answer.body.reason, 'secret-like');
    assert.match(answer.body.path, /^runs\/\d{4}\/\d\d\/bait-run-01\.json$/);
    assert.ok(answer.body.message.includes(word), answer.body.message);
    const dry = await service.post(seal(run, nonce), { place: '/api/bench/validate' });
    assert.deepEqual([dry.status, dry.body], [answer.status, answer.body]);
    assert.ok(!JSON.stringify(answer.body).includes(text) && !service.log.includes(text));
    /* The nonce is given back, and so is the id. */
    const clean = await service.post(seal(makeRun({ id: `after-${word}-01`, seed: 3 }), nonce));
    assert.equal(clean.status, 200);
  }
  assert.equal((await service.json('/api/bench/runs/bait-run-01')).status, 404);
  assert.ok(!service.git('grep', '-l', '', 'HEAD').includes('bait-run'));
  assert.equal((await service.submit(makeRun({ id: 'bait-run-01' }))).status, 200);
});

test('near misses are taken', async (t) => {
  const service = await startService(t);
  for (const [i, text] of [`x${TOKEN}`, `${TOKEN}a`, `gh${'p_'}short`, 'a graph_of sk-learn', `AK${'IA'}IOSFODNN7EXAMPLE`].entries())
    assert.equal((await service.submit(baited(`near-run-0${i}`, text, i))).status, 200, text);
});

test('real run files hold none', { skip: NO_CORPUS }, async (t) => {
  const service = await startService(t, { config: { max_body: 1 << 24 } });
  for (const file of corpusFiles()) {
    /* Within a run of today, whatever its own protocol and date. */
    const run = { ...makeRun({ id: 'corpus-run-01' }), real: JSON.parse(readFileSync(file)) };
    const answer = await service.post(seal(run), { place: '/api/bench/validate' });
    assert.equal(answer.status, 200, `${file}: ${answer.body.message}`);
  }
});

test('a bait costs its address four more attempts', async (t) => {
  const service = await startService(t, { config: { rate_limit: 12, trusted_proxies: '127.0.0.0/8' } });
  const from = (address) => ({ headers: { 'x-forwarded-for': address } });
  const statuses = [];
  for (let i = 0; i < 4; i++)
    statuses.push((await service.submit(baited('costly-run-01', TOKEN), from('198.51.100.7'))).status);
  assert.deepEqual(statuses, [422, 422, 422, 429]);
  assert.equal((await service.post('{', from('198.51.100.8'))).status, 400);
  for (let i = 0; i < 20; i++) /* a dry run has its own budget and costs nothing else */
    assert.equal((await service.post(seal(baited('dry-run-0001', TOKEN)),
      { ...from('203.0.113.1'), place: '/api/bench/validate' })).status, 422);
  assert.equal((await service.post('{', from('203.0.113.1'))).status, 400);
});
