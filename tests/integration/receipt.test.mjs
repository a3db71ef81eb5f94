// Receipts: made by keygen's key, given with every acceptance, verified without the service.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { canonical, makeRun, seal } from '../support/run.mjs';
import { command, holdCommitLock, startService } from '../support/service.mjs';

function folderOf(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes a key pair: {file, pub, id, pem}. */
async function makeKey(folder, name = 'key') {
  const file = path.join(folder, name);
  const { code, stdout, stderr } = await command(['keygen', file]);
  assert.equal(code, 0, stderr);
  writeFileSync(`${file}.pub`, stdout);
  return { file, pub: `${file}.pub`, id: /^keyId ([0-9a-f]{16})$/m.exec(stdout)[1],
    pem: stdout.slice(stdout.indexOf('-----BEGIN')) };
}

/** What a stranger with the public key and the specification says. */
function holds(receipt, pem) {
  return verify(null, Buffer.from(`benchledger-receipt-v1\n${canonical(receipt.payload)}`),
    createPublicKey(pem), Buffer.from(receipt.signature, 'base64'));
}

test('keygen makes a closed file, never twice, and prints only the public half', async (t) => {
  const folder = folderOf(t);
  const key = await makeKey(folder);
  assert.equal(statSync(key.file).mode & 0o7777, 0o600);
  const secret = readFileSync(key.file, 'utf8').split('\n')[1];
  assert.ok(!readFileSync(key.pub, 'utf8').includes(secret));
  const raw = createPublicKey(key.pem).export({ type: 'spki', format: 'der' }).subarray(-32);
  assert.equal(createHash('sha256').update(raw).digest('hex').slice(0, 16), key.id);
  const before = readFileSync(key.file);
  const again = await command(['keygen', key.file]);
  assert.equal(again.code, 3);
  assert.match(again.stderr, /exists/);
  assert.deepEqual(readFileSync(key.file), before);
  assert.equal((await command(['keygen'])).code, 64);
  assert.equal((await command(['keygen', path.join(folder, 'no', 'such', 'folder')])).code, 3);
});

test('a run has one receipt: with its acceptance and with every repetition', async (t) => {
  const folder = folderOf(t);
  const key = await makeKey(folder);
  const service = await startService(t, { config: { receipt_key_file: key.file } });
  const run = seal(makeRun({ id: 'receipt-run-01' }), await service.nonce());
  const accepted = await service.post(run);
  assert.equal(accepted.status, 200);
  const { receipt } = accepted.body;
  assert.ok(holds(receipt, key.pem));
  const published = JSON.parse(service.file(accepted.body.path));
  const line = JSON.parse(service.file(service.files().find((name) => name.startsWith('ledger/'))));
  assert.deepEqual(receipt.payload, { keyId: key.id, runId: 'receipt-run-01', submittedDigest: run.digest,
    digest: published.digest, path: accepted.body.path, acceptedAt: line.at });
  assert.equal(line.digest, published.digest);

  const again = await service.post(run);
  assert.equal(again.status, 409);
  assert.equal(again.body.same, true);
  assert.deepEqual(again.body.receipt, receipt);
  await service.restart();
  assert.deepEqual((await service.post(run)).body.receipt, receipt);

  const other = await service.submit(makeRun({ id: 'receipt-run-01', seed: 5 }));
  assert.equal(other.status, 409);
  assert.equal(other.body.same, false);
  assert.ok(!('receipt' in other.body));
});

test('whoever joins a submission in flight gets the receipt of its commit', async (t) => {
  const folder = folderOf(t);
  const key = await makeKey(folder);
  const service = await startService(t, { config: { receipt_key_file: key.file } });
  const run = seal(makeRun({ id: 'joined-run-01' }), await service.nonce());
  const release = await holdCommitLock(service);
  const both = [service.post(run), service.post(run)];
  await release();
  const answers = await Promise.all(both);
  assert.deepEqual(answers.map((answer) => answer.status).sort(), [200, 409]);
  assert.deepEqual(answers[0].body.receipt, answers[1].body.receipt);
  assert.ok(holds(answers[0].body.receipt, key.pem));
});

test('without a key there are no receipts and no public keys', async (t) => {
  const service = await startService(t);
  const accepted = await service.submit(makeRun());
  assert.equal(accepted.status, 200);
  assert.ok(!('receipt' in accepted.body));
  assert.deepEqual((await service.json('/api/bench/key')).body, { keys: [] });
});

test('public keys: the present one, and those that the dataset remembers', async (t) => {
  const folder = folderOf(t);
  const [old, young] = [await makeKey(folder, 'old'), await makeKey(folder, 'young')];
  const service = await startService(t, { config: { receipt_key_file: old.file } });
  const first = (await service.submit(makeRun({ id: 'rotated-run-01' }))).body.receipt;
  assert.equal(service.file(`keys/${old.id}.pub`).toString(), old.pem);
  await service.stop();
  service.replace((git) => {
    const blob = (text) => {
      const file = path.join(folder, 'blob');
      writeFileSync(file, text);
      return git('hash-object', '-w', file);
    };
    const add = (name, text) => git('update-index', '--add', '--cacheinfo', `100644,${blob(text)},${name}`);
    add('keys/README', 'no key');
    add('keys/0123456789abcdef.pub', old.pem); /* under a name that is not its id */
    add('keys/fedcba9876543210.pub', 'x'.repeat(100000));
  });
  await service.restart({ config: { receipt_key_file: young.file } });
  const second = (await service.submit(makeRun({ id: 'rotated-run-02' }))).body.receipt;
  const answer = await service.json('/api/bench/key');
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('access-control-allow-origin'), '*');
  assert.deepEqual(answer.body.keys, [
    { keyId: young.id, algorithm: 'Ed25519', publicKey: young.pem, current: true },
    { keyId: old.id, algorithm: 'Ed25519', publicKey: old.pem, current: false }]);
  for (const receipt of [first, second]) {
    const used = answer.body.keys.find((row) => row.keyId === receipt.payload.keyId);
    assert.ok(holds(receipt, used.publicKey));
  }
  /* The dataset alone verifies both. */
  for (const receipt of [first, second]) {
    const checked = await command(['verify-receipt', '-', '--dataset', service.store],
      { input: JSON.stringify(receipt) });
    assert.equal(checked.code, 0, checked.stderr);
  }
});

test('verify-receipt: good, not good, unreadable, misused', async (t) => {
  const folder = folderOf(t);
  const [key, other] = [await makeKey(folder), await makeKey(folder, 'other')];
  const service = await startService(t, { config: { receipt_key_file: key.file } });
  const answer = (await service.submit(makeRun({ id: 'verify-run-01' }))).body;
  const write = (name, value) => {
    const file = path.join(folder, name);
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
    return file;
  };
  const good = write('good.json', answer);
  const bare = write('bare.json', answer.receipt);
  const forged = structuredClone(answer.receipt);
  forged.payload.path = 'runs/2026/01/other.json';
  const plain = path.join(folder, 'plain');
  mkdirSync(path.join(plain, 'keys'), { recursive: true });
  writeFileSync(path.join(plain, 'keys', `${key.id}.pub`), key.pem);
  for (const [args, code, out] of [
    [[good, '--key', key.pub], 0, /good: run verify-run-01/],
    [[bare, '--key', other.pub, `--key=${key.pub}`], 0, /^good/],
    [[bare, '--dataset', plain], 0, /^good/],
    [[bare, '--key', other.pub], 2, /none of the given keys/],
    [[bare, '--key', other.pub, '--dataset', plain], 0, /^good/],
    [[write('forged.json', forged), '--key', key.pub], 2, /has not signed/],
    [[write('none.json', { ok: true }), '--key', key.pub], 2, /no receipt/],
    [[write('text.json', 'no JSON'), '--key', key.pub], 3, /not JSON/],
    [[path.join(folder, 'missing.json'), '--key', key.pub], 3, /cannot be read/],
    [[good, '--key', path.join(folder, 'missing.pub')], 3, /missing\.pub/],
    [[good, '--key', good], 3, /no public key/],
    [[good, '--dataset', folder], 3, /benchledger/],
    [[good], 64, /--key or --dataset/],
    [[good, bare, '--key', key.pub], 64, /too many/],
    [['--key', key.pub], 64, /too few/]]) {
    const ended = await command(['verify-receipt', ...args]);
    assert.equal(ended.code, code, `${args}: ${ended.stdout}${ended.stderr}`);
    assert.match(ended.stdout + ended.stderr, out);
  }
});

test('a key file that is none, or is open to others, does not start', async (t) => {
  const folder = folderOf(t);
  const key = await makeKey(folder);
  const loose = await makeKey(folder, 'loose');
  chmodSync(loose.file, 0o644);
  for (const [file, part] of [[path.join(folder, 'none'), /No such file/], [key.pub, /by others|private key/],
    [loose.file, /by others/]]) {
    for (const more of [[], ['--check-config']]) {
      const ended = await command(['serve', '--state-dir', path.join(folder, 'state'), '--listen',
        '127.0.0.1:0', '--receipt-key-file', file, ...more]);
      assert.equal(ended.code, 2, ended.stderr);
      assert.match(ended.stderr, part);
    }
  }
  const secret = readFileSync(key.file, 'utf8').split('\n')[1];
  const service = await startService(t, { config: { receipt_key_file: key.file, log_level: 'debug' } });
  await service.submit(makeRun());
  await service.json('/api/bench/key');
  await service.stop();
  assert.ok(!service.log.includes(secret));
  assert.ok(!service.git('grep', '-c', 'BEGIN', 'HEAD').includes('PRIVATE'));
});
