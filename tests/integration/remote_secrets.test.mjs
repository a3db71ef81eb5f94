// No secret shows anywhere, at the most talkative level, whatever goes wrong. The other remote tests look, too;
// this one goes through every kind of trouble with every kind of secret, and shows that the looking finds.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { makeAuthority } from '../support/certificates.mjs';
import { startRedis } from '../support/redis.mjs';
import { startRemote } from '../support/remote.mjs';
import { assertAll, checkDataset, postAll, receiptKey, refusal, sealedRuns, startRemoteService } from '../support/remote_service.mjs';
import { SecretWatch } from '../support/secrets.mjs';
import { command, sleep } from '../support/service.mjs';

test('all secrets through all kinds of trouble', { timeout: 180_000 }, async (t) => {
  const redis = await startRedis(t);
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote, { begin: false,
    config: { log_level: 'debug', submit_wait_ms: 2500, remote_timeout_ms: 1500, redis_url: redis.url },
    env: { BENCHLEDGER_REDIS_PASSWORD: redis.password, BENCH_NONCE_SECRET_PREVIOUS: 'the-secret-before-this-one-0123456789' } });
  service.watch.add('redis password', redis.password);
  service.watch.add('previous nonce secret', 'the-secret-before-this-one-0123456789');
  await receiptKey(service);
  await service.begin();
  await service.ready();
  const all = [];
  let part = 0;
  const submit = async () => {
    const runs = await sealedRuns(service, `secret-part-${part++}`, 3);
    all.push(...(await postAll(service, runs)).filter(({ status }) => status < 300).map(({ run }) => run));
  };
  await submit();
  const troubles = [
    [() => remote.revoke(), () => remote.grant(), 'remote-auth:'],
    [() => remote.denyPush(), () => remote.denyPush(false), 'remote-auth:'],
    [() => remote.unavailable(), () => remote.unavailable(false), 'remote-down:'],
    [() => remote.down(), () => remote.up(), 'remote-down:'],
    [() => remote.proxy.set('silent'), () => remote.proxy.set('pass'), 'remote-down:'],
    [() => remote.vanish(), () => remote.reappear(), 'remote-down:'],
    // A host that repeats what it was told.
    [() => remote.hook('pre-receive', 'env >&2; exit 1'), () => remote.unhook('pre-receive'), 'remote-declined:'],
  ];
  for (const [begin, end, word] of troubles) {
    await begin();
    await submit();
    await service.unready(word, 60_000);
    await end();
    await service.ready(60_000);
    await submit();
  }
  await redis.stop();
  await submit();
  await redis.start();
  await service.settled(all);
  for (const place of ['/openapi.json', '/metrics', '/api/bench/key', '/healthz', '/readyz'])
    await service.fetch(place);
  await checkDataset(remote, all.map(({ runId }) => runId));
  assert.ok(service.watch.gitSeen.size > 0, 'command lines of git were looked at');
  t.diagnostic(`${service.watch.samples} samples, ${service.watch.gitSeen.size} command lines of git`);
  await service.checkSecrets();
  await service.stop();
  for (const args of [['serve', '--check-config', `--store=${remote.url}`], ['serve', '--help'], ['serve', '--listen=nonsense']]) {
    const { stdout, stderr } = await command(args, { env: { ...service.options.env } });
    service.watch.look(`the output of ${args.join(' ')}`, stdout + stderr);
  }
  await service.checkSecrets();
});

test('a wrong CA, where git says most about the connection', async (t) => {
  const remote = await startRemote(t);
  const service = await startRemoteService(t, remote, { config: { log_level: 'debug',
    git_ca_file: makeAuthority(remote.folder, 'other') }, env: { GIT_TRACE: '1', GIT_CURL_VERBOSE: '1', GIT_TRACE_CURL: '1',
    GIT_TRACE_REDACT: '0' } });
  await service.unready('remote-down:');
  await service.checkSecrets();
  await service.stop();
  service.options.config.git_ca_file = remote.caFile;
  await service.begin();
  await service.ready();
  assertAll(await postAll(service, await sealedRuns(service, 'traced', 2)), 200);
  await service.checkSecrets(); // the traces of git are not for its log
});

test('secrets on the command line are refused', async (t) => {
  const remote = await startRemote(t);
  for (const key of ['github_token', 'nonce_secret', 'redis_password']) {
    const secret = randomBytes(24).toString('hex');
    const { code, stderr } = await refusal(remote.url, [`--${key}=${secret}`], {});
    assert.equal(code, 2, stderr);
    assert.ok(!stderr.includes(secret));
  }
});

test('the looking finds what is there', async (t) => {
  const remote = await startRemote(t);
  const secret = randomBytes(24).toString('hex');
  const hidden = { commit: () => remote.commit('notes/leak.txt', `it is ${secret}\n`),
    base64: () => remote.commit('notes/leak.txt', `it is ${Buffer.from(`x-access-token:${secret}`).toString('base64')}\n`),
    header: () => remote.commit('notes/leak.txt', 'none', { message: `see ${secret}` }) };
  for (const [name, leak] of Object.entries(hidden)) {
    const fresh = new SecretWatch();
    fresh.add('token', secret);
    leak();
    await fresh.lookAtObjects(remote.repo);
    assert.ok(fresh.found.size > 0, name);
  }
  const watch = new SecretWatch();
  watch.add('token', secret);
  watch.begin(t);
  const sleeper = command(['check', `/no/such/${secret}`]);
  watch.sample();
  await sleeper;
  await sleep(50);
  assert.ok([...watch.found].some((text) => text.includes('command line')));
  writeFileSync(path.join(remote.folder, 'note'), secret);
  watch.lookAtFiles(remote.folder);
  assert.ok([...watch.found].some((text) => text.includes('/note')));
  await assert.rejects(watch.check([], []), /secrets were seen/);
});
