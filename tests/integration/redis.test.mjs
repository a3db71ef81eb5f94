// What several instances share over Redis, and what becomes of them without it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { makeRun, seal, sha256 } from '../support/run.mjs';
import { startRedis } from '../support/redis.mjs';
import { command, holdCommitLock, sleep, startService } from '../support/service.mjs';

const SECRET = 'a nonce secret that is long enough for this';
const instance = (t, redis, { config = {}, env = {} } = {}) => startService(t, {
  config: { redis_url: redis.url, trusted_proxies: '127.0.0.0/8', ...config },
  env: { BENCH_NONCE_SECRET: SECRET, ...(redis.password ? { BENCHLEDGER_REDIS_PASSWORD: redis.password } : {}), ...env },
});
const from = (address) => ({ headers: { 'x-forwarded-for': address } });

async function until(look) {
  for (let i = 0; i < 200; i++) {
    const found = await look();
    if (found) return found;
    await sleep(50);
  }
  return assert.fail('it does not come');
}

for (const [where, options] of [['a unix socket', { password: '' }], ['TCP with a password', { tcp: true }]]) {
  test(`two instances share rates and nonces over ${where}`, async (t) => {
    const redis = await startRedis(t, { ...options, db: 2 });
    const [one, two] = await Promise.all([instance(t, redis, { config: { rate_limit: 6 } }),
      instance(t, redis, { config: { rate_limit: 6 } })]);

    const statuses = [];
    for (let i = 0; i < 8; i++)
      statuses.push((await (i % 2 ? one : two).post('{', from('198.51.100.7'))).status);
    assert.deepEqual(statuses, [400, 400, 400, 400, 400, 400, 429, 429]);
    const refused = await one.post('{', from('198.51.100.7'));
    assert.ok(refused.body.retryAfterSec > 3400 && refused.body.retryAfterSec <= 3660);
    assert.equal((await two.post('{', from('198.51.100.8'))).status, 400);
    for (let i = 0; i < 6; i++) await one.post('{', from(`2001:db8::${i}`));
    assert.equal((await two.post('{', from('2001:db8::ffff'))).status, 429);
    assert.equal((await two.post('{', from('2001:db8:0:1::1'))).status, 400);

    /* One submission a nonce, wherever it is; the same submission again is no other. */
    const nonce = await one.nonce();
    const run = seal(makeRun({ id: 'shared-run-01' }), nonce);
    assert.equal((await one.post(run, from('203.0.113.1'))).status, 200);
    const other = await two.post(seal(makeRun({ id: 'shared-run-02', seed: 2 }), nonce), from('203.0.113.2'));
    assert.equal(other.status, 409);
    assert.equal(other.body.code, 'nonce-used');
    assert.equal((await one.post(run, from('203.0.113.1'))).body.same, true);
    assert.equal((await two.post(run, from('203.0.113.3'))).status, 200); /* it has another dataset */

    /* Kept as long as the nonce is valid; addresses are not readable; everything goes away. */
    const key = `benchledger:nonce:${sha256(nonce)}`;
    await until(async () => Number(/:(\d+)\r\n\+OK/.exec(await redis.call(`PTTL ${key}`))[1]) > 24 * 3600e3);
    const keys = [...(await redis.call('KEYS *')).matchAll(/benchledger:\S+/g)].map((found) => found[0]);
    assert.ok(keys.length >= 5 && keys.every((name) => /^benchledger:(nonce:[0-9a-f]{64}|rate:[12]:[0-9a-f]{32})$/.test(name)),
      keys.join());
    for (const name of keys) assert.match(await redis.call(`TTL ${name}`), /:[1-9]\d*\r\n\+OK/);
    for (const service of [one, two]) {
      await service.stop();
      assert.ok(!redis.password || !service.log.includes(redis.password));
    }
  });
}

test('a refused submission gives its nonce back to all', async (t) => {
  const redis = await startRedis(t);
  const [one, two] = await Promise.all([instance(t, redis, { config: { bytes_per_day: 1 } }), instance(t, redis)]);
  const nonce = await one.nonce();
  const busy = await one.post(seal(makeRun({ id: 'busy-run-01' }), nonce));
  assert.equal(busy.body.code, 'busy');
  assert.equal((await two.post(seal(makeRun({ id: 'busy-run-02', seed: 2 }), nonce))).status, 200);
});

test('what the store does not take gives its nonce back to all, what it takes does not', async (t) => {
  const redis = await startRedis(t);
  const [one, two] = await Promise.all([instance(t, redis, { config: { queue_limit: 1 } }), instance(t, redis)]);
  const runs = await Promise.all(Array.from({ length: 6 }, async (_, i) =>
    seal(makeRun({ id: `full-run-${i}0000`, seed: i }), await one.nonce())));
  const release = await holdCommitLock(one);
  const answers = runs.map((run) => one.post(run).then((answer) => ({ ...answer, run })));
  const full = await Promise.race(answers); /* the others wait for their commit */
  assert.equal(full.body.code, 'store-unavailable');
  const again = (run, id) => two.post(seal(makeRun({ id, seed: 9 }), run.nonce));
  await until(async () => (await again(full.run, 'freed-run-01')).status === 200);
  await release();
  const stored = (await Promise.all(answers)).filter(({ status }) => status === 200);
  assert.ok(stored.length > 0);
  for (const { run } of stored) assert.equal((await again(run, 'other-run-01')).body.code, 'nonce-used');
});

test('a nonce that this store knows as used is not reserved for who tries it', async (t) => {
  const redis = await startRedis(t);
  const service = await instance(t, redis);
  const nonce = await service.nonce();
  assert.equal((await service.post(seal(makeRun({ id: 'known-run-01' }), nonce))).status, 200);
  await until(async () => /:1\r\n/.test(await redis.call(`EXISTS benchledger:nonce:${sha256(nonce)}`)));
  await redis.call('FLUSHALL');
  const other = await service.post(seal(makeRun({ id: 'known-run-02', seed: 2 }), nonce));
  assert.equal(other.body.code, 'nonce-used');
  assert.match(await redis.call(`EXISTS benchledger:nonce:${sha256(nonce)}`), /:0\r\n/);
});

test('without Redis submit is 503 until it is back; the rest is served', async (t) => {
  const redis = await startRedis(t);
  const service = await instance(t, redis);
  const run = seal(makeRun({ id: 'away-run-01' }), await service.nonce());
  await redis.stop();
  for (let i = 0; i < 3; i++) {
    const answer = await service.post(run);
    assert.equal(answer.status, 503);
    assert.equal(answer.body.code, 'store-unavailable');
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
  }
  const ready = await service.json('/readyz');
  assert.equal(ready.status, 503);
  assert.match(ready.body.reasons.join(), /^redis-down: /);
  assert.equal((await service.json('/api/bench/leaderboard')).status, 200);
  assert.equal((await service.post(run, { place: '/api/bench/validate' })).status, 200);
  assert.equal((await service.json('/api/bench/runs/away-run-01')).status, 404); /* nothing half done */
  await redis.start();
  await until(async () => (await service.json('/readyz')).status === 200);
  assert.equal((await service.post(run)).status, 200);
  assert.match(service.log, /redis is away[^]*redis is back/);
});

test('a Redis that hangs holds up nobody for long', async (t) => {
  const redis = await startRedis(t);
  const service = await instance(t, redis);
  const runs = await Promise.all(Array.from({ length: 20 }, async (_, i) =>
    seal(makeRun({ id: `hung-run-${i}0000`, seed: i }), await service.nonce())));
  redis.signal('SIGSTOP');
  const [answers, healthy] = await Promise.all([
    Promise.all(runs.map((run) => service.post(run))),
    Promise.all(runs.map(() => service.json('/healthz')))]);
  /* The first that waits in vain closes the link for all the others. */
  assert.equal(service.log.split('redis is away').length - 1, 1, service.log);
  assert.ok(answers.every((answer) => answer.status === 503));
  assert.ok(healthy.every((answer) => answer.status === 200));
  redis.signal('SIGCONT');
  await until(async () => (await service.json('/readyz')).status === 200);
  for (const answer of await Promise.all(runs.map((run) => service.post(run)))) assert.equal(answer.status, 200);
});

test('a Redis that would forget nonces, or does not let us in, is refused at the start', async (t) => {
  const lru = await startRedis(t, { policy: 'allkeys-lru', password: '' });
  const closed = await startRedis(t);
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const start = (url, env = {}) => command(['serve', '--listen', '127.0.0.1:0', '--state-dir', path.join(folder, 'state'),
    '--redis-url', url], { env });
  for (const [url, env, part] of [[lru.url, {}, /maxmemory-policy is allkeys-lru.*noeviction/],
    [closed.url, {}, /NOAUTH/], [closed.url, { BENCHLEDGER_REDIS_PASSWORD: 'wrong-hush' }, /WRONGPASS/],
    ['redis://:hush@127.0.0.1', {}, /redis_password/], ['nowhere', {}, /redis:\/\//]]) {
    const ended = await start(url, env);
    assert.equal(ended.code, 2, ended.stderr);
    assert.match(ended.stderr, part);
    assert.ok(!/hush/.test(ended.stderr + ended.stdout), ended.stderr);
  }
  const checked = await command(['serve', '--check-config', '--redis-url', 'redis://:hush@127.0.0.1']);
  assert.equal(checked.code, 2);
  assert.ok(!/hush/.test(checked.stderr + checked.stdout));
});

test('a Redis that comes later with a wrong policy is not used until it is right', async (t) => {
  const redis = await startRedis(t, { policy: 'allkeys-lru' });
  await redis.stop();
  const service = await instance(t, redis);
  assert.match(service.log, /redis is away/);
  await redis.start();
  await until(async () => /noeviction/.test((await service.json('/readyz')).body.reasons.join()));
  assert.equal((await service.submit(makeRun({ id: 'policy-run-01' }))).status, 503);
  await redis.call('CONFIG SET maxmemory-policy noeviction');
  await until(async () => (await service.json('/readyz')).status === 200);
  assert.equal((await service.submit(makeRun({ id: 'policy-run-01' }))).status, 200);
  /* And while it serves. */
  await redis.call('CONFIG SET maxmemory-policy allkeys-random');
  await until(async () => (await service.json('/readyz')).status === 503);
});
