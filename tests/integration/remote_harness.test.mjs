// The git host of the remote tests does what they rely on, shown with git alone.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { makeAuthority } from '../support/certificates.mjs';
import { startFileRemote, startRemote } from '../support/remote.mjs';
import { until } from '../support/remote_service.mjs';

const PUSH = ['push', '--porcelain', 'origin', 'HEAD:main'];
const failure = (promise) => promise.then(() => assert.fail('it should have failed'), (error) => error.stderr + error.stdout);

async function commitIn({ tree, git }, name, content = name) {
  writeFileSync(path.join(tree, name), content);
  await git('add', name);
  await git('commit', '--quiet', '-m', `add ${name}`);
  return (await git('rev-parse', 'HEAD')).trim();
}

test('clone and push with the token, and what each push sent', async (t) => {
  const remote = await startRemote(t);
  const clone = await remote.clone('first');
  const commit = await commitIn(clone, 'a.txt');
  await clone.git(...PUSH);
  assert.equal(remote.tip(), commit);
  assert.deepEqual(remote.files(), ['README.md', 'a.txt']);
  await commitIn(clone, 'large.bin', randomBytes(3e6));
  await clone.git('-c', 'http.postBuffer=65536', ...PUSH); // chunked, after a probe
  await commitIn(clone, 'b.txt');
  await clone.git(...PUSH);
  // The host writes its log when a request is over, which may be after the client has its answer.
  const pushes = await until(() => remote.pushes().length >= 3 && remote.pushes(), { what: 'three pushes in the log' });
  assert.deepEqual(pushes.map(({ status }) => status), [200, 200, 200]);
  assert.ok(pushes[0].bytes > 300 && pushes[0].bytes < 3000, `${pushes[0].bytes} bytes`);
  assert.ok(pushes[1].bytes > 65536, `${pushes[1].bytes} bytes`);
});

test('an empty repository and a branch of another name', async (t) => {
  const remote = await startRemote(t, { empty: true, branch: 'trunk' });
  assert.equal(remote.tip(), null);
  const clone = await remote.clone('first');
  const commit = await commitIn(clone, 'a.txt');
  await clone.git('push', '--quiet', 'origin', 'HEAD:trunk');
  assert.equal(remote.tip(), commit);
});

test('who has no token, another CA or no permission is refused', async (t) => {
  const remote = await startRemote(t);
  assert.match(await failure(remote.clone('no-token', { token: false })), /could not read Username/);
  assert.match(await failure(remote.clone('no-ca', { caFile: makeAuthority(remote.folder, 'other') })), /certificate/);
  const clone = await remote.clone('first');
  await commitIn(clone, 'a.txt');
  remote.denyPush();
  assert.match(await failure(clone.git(...PUSH)), /403/);
  await clone.git('fetch', '--quiet');
  remote.denyPush(false);
  remote.revoke();
  assert.match(await failure(clone.git(...PUSH)), /could not read Username|Authentication failed|401/);
  remote.grant();
  remote.unavailable();
  assert.match(await failure(clone.git(...PUSH)), /503/);
  remote.unavailable(false);
  remote.vanish();
  assert.match(await failure(clone.git(...PUSH)), /not found/);
  remote.reappear();
  await clone.git(...PUSH);
});

test('with anonymous reading the token is for pushes', async (t) => {
  const remote = await startRemote(t, { anonymousRead: true });
  const clone = await remote.clone('first', { token: false });
  await commitIn(clone, 'a.txt');
  assert.match(await failure(clone.git(...PUSH)), /could not read Username/);
});

test('a hook declines and says why', async (t) => {
  const remote = await startRemote(t, { hooks: { 'pre-receive': 'echo "no thanks" >&2; exit 1' } });
  const clone = await remote.clone('first');
  await commitIn(clone, 'a.txt');
  assert.match(await failure(clone.git(...PUSH)), /no thanks[\s\S]*pre-receive hook declined/);
  remote.unhook('pre-receive');
  await clone.git(...PUSH);
});

test('connections are refused, and accepted again', async (t) => {
  const remote = await startRemote(t);
  const clone = await remote.clone('first');
  await remote.down();
  assert.match(await failure(clone.git('fetch')), /Failed to connect|Connection refused/);
  await remote.up();
  await clone.git('fetch', '--quiet');
});

test('every round trip costs the latency', async (t) => {
  const remote = await startRemote(t, { latencyMs: 200 });
  const started = Date.now();
  await remote.clone('first');
  const ms = Date.now() - started;
  t.diagnostic(`a clone in ${ms} ms`);
  assert.ok(ms >= 4 * 200, `connect, TLS, references, objects: ${ms} ms`);
});

test('a push is applied, once, and the client cannot know', async (t) => {
  const remote = await startRemote(t);
  const clone = await remote.clone('first');
  const faults = [() => remote.dropAfterApplied({ then: 'down' }), () => remote.cutAfterApplied(),
    () => remote.dropAfterApplied()];
  for (const [i, begin] of faults.entries()) {
    const commit = await commitIn(clone, `${i}.txt`);
    begin();
    const told = await failure(clone.git(...PUSH));
    assert.doesNotMatch(told, /^[ *=]\t/m, 'success is not told');
    assert.equal(remote.tip(), commit);
    await remote.up();
    assert.match(await clone.git(...PUSH), /\[up to date\]/);
    t.diagnostic(told.trim().replaceAll('\n', ' / '));
  }
  await commitIn(clone, 'last.txt');
  await clone.git(...PUSH);
});

test('a proxy that is silent or drips holds a client up, and only as long as it does', async (t) => {
  const remote = await startRemote(t);
  for (const mode of ['silent', 'drip']) {
    remote.proxy.set(mode);
    let ended = false;
    const clone = remote.clone(mode).finally(() => { ended = true; });
    await new Promise((wake) => setTimeout(wake, 1500));
    assert.equal(ended, false, mode);
    remote.proxy.set('pass');
    await clone;
  }
});

test('a remote that is a folder', async (t) => {
  const remote = startFileRemote(t);
  const clone = await remote.clone('first');
  const commit = await commitIn(clone, 'a.txt');
  await clone.git(...PUSH);
  assert.equal(remote.tip(), commit);
});
