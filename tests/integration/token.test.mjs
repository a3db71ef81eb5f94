// The maintainers' file: kept by `token`, read by `serve`.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, renameSync,
  rmSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { BINARY, command, sleep, startService } from '../support/service.mjs';

const ZEROS = '0'.repeat(64);
const sha256 = (text) => createHash('sha256').update(text).digest('hex');
const day = (offset) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

function makeFolder(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'maintainers');
  return { folder, file, read: () => readFileSync(file, 'utf8'),
    token: (...args) => command(['token', ...args, '--maintainers-file', file]) };
}

async function added(place, ...args) {
  const { code, stdout, stderr } = await place.token('add', ...args);
  assert.equal(code, 0, stderr);
  assert.equal(stderr, '');
  assert.match(stdout, /^[A-Za-z0-9_-]{43}\n$/);
  return stdout.trim();
}

async function until(condition, what, ms = 10_000) {
  const end = Date.now() + ms;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`never: ${what()}`);
    await sleep(20);
  }
}

test('add makes a token, prints it once and keeps its hash alone', async (t) => {
  const place = makeFolder(t);
  const first = await added(place, 'alice');
  assert.equal(statSync(place.file).mode & 0o7777, 0o600);
  const second = await added(place, 'alice', '--role=admin', '--expires', day(0));
  assert.notEqual(first, second);
  assert.equal(place.read(), `alice reviewer ${sha256(first)}\nalice admin ${sha256(second)} ${day(0)}\n`);
  assert.deepEqual(readdirSync(place.folder), ['maintainers']);
});

test('add keeps comments, mode and owner, and ends a line that had no end', async (t) => {
  const place = makeFolder(t);
  const before = `# who may review\n\n\t bob   reviewer ${ZEROS}\n  # the last`;
  writeFileSync(place.file, before);
  chmodSync(place.file, 0o640);
  if (process.getuid() === 0) chownSync(place.file, 12345, 23456);
  const owner = statSync(place.file);
  const token = await added(place, 'alice');
  assert.equal(place.read(), `${before}\nalice reviewer ${sha256(token)}\n`);
  const now = statSync(place.file);
  assert.deepEqual([now.mode, now.uid, now.gid], [owner.mode, owner.uid, owner.gid]);
  assert.notEqual(now.ino, owner.ino);
});

test('a link stays, and what it points to is replaced', async (t) => {
  const place = makeFolder(t);
  mkdirSync(path.join(place.folder, 'real'));
  writeFileSync(path.join(place.folder, 'real/list'), '');
  symlinkSync('real/list', place.file);
  const token = await added(place, 'alice');
  assert.equal(readlinkSync(place.file), 'real/list');
  assert.ok(!lstatSync(path.join(place.folder, 'real/list')).isSymbolicLink());
  assert.ok(place.read().includes(sha256(token)));
  assert.deepEqual(readdirSync(path.join(place.folder, 'real')), ['list']);
  unlinkSync(path.join(place.folder, 'real/list'));
  const dangling = await place.token('add', 'bob');
  assert.equal(dangling.code, 3);
  assert.match(dangling.stderr, /link to nothing/);
});

test('twenty at once lose nothing', async (t) => {
  const place = makeFolder(t);
  const tokens = await Promise.all(Array.from({ length: 20 }, (_, i) => added(place, `reviewer-${i}`)));
  assert.equal(new Set(tokens).size, 20);
  const lines = place.read().trim().split('\n');
  assert.deepEqual(lines.toSorted?.() ?? [...lines].sort(),
    tokens.map((token, i) => `reviewer-${i} reviewer ${sha256(token)}`).sort());
  const ends = await Promise.all(Array.from({ length: 20 }, (_, i) => i % 2 ? added(place, 'late')
    : place.token('revoke', `reviewer-${i}`).then(({ code }) => assert.equal(code, 0))));
  assert.equal(ends.length, 20);
  const names = place.read().trim().split('\n').map((line) => line.split(' ')[0]);
  assert.equal(names.filter((name) => name === 'late').length, 10);
  assert.equal(names.length, 20);
  assert.deepEqual(readdirSync(place.folder), ['maintainers']);
});

test('whoever reads meanwhile sees a whole file', async (t) => {
  const place = makeFolder(t);
  await added(place, 'first');
  let over = false, reads = 0;
  const reading = (async () => {
    while (!over) {
      const text = place.read();
      assert.ok(text.endsWith('\n') && text.startsWith('first reviewer '));
      reads++;
      await sleep(1);
    }
  })();
  for (let i = 0; i < 10; i++) await added(place, 'more');
  over = true;
  await reading;
  assert.ok(reads > 0);
});

test('list shows names, roles, short hashes and days, and no more', async (t) => {
  const place = makeFolder(t);
  writeFileSync(place.file, `# no line\nalice reviewer ${sha256('a')}\nbob admin ${sha256('b')} ${day(0)}\n` +
    `carol reviewer ${sha256('c')} 2020-02-29\n`);
  const { code, stdout } = await place.token('list');
  assert.equal(code, 0);
  assert.deepEqual(stdout.trim().split('\n').map((line) => line.split(/ +/)), [
    ['alice', 'reviewer', sha256('a').slice(0, 8), '-'], ['bob', 'admin', sha256('b').slice(0, 8), day(0)],
    ['carol', 'reviewer', sha256('c').slice(0, 8), '2020-02-29', 'expired']]);
});

test('revoke removes the lines of a name, or one of them', async (t) => {
  const place = makeFolder(t);
  const line = (name, hash) => `${name} reviewer ${hash}\n`;
  const one = `aa1${'0'.repeat(61)}`, two = `aa2${'0'.repeat(61)}`;
  const text = `# top\n${line('alice', one)}${line('bob', one)}\n${line('alice', two)}# end`;
  writeFileSync(place.file, text);
  const rows = [[['alicia'], 1], [['Alice'], 1], [['alice', '--hash', 'bb'], 1], [['alice', '--hash', 'aa'], 1]];
  for (const [args, code] of rows) {
    const ended = await place.token('revoke', ...args);
    assert.equal(ended.code, code, ended.stderr);
    assert.equal(place.read(), text);
  }
  assert.equal((await place.token('revoke', 'alice', '--hash', 'aa2')).code, 0);
  assert.equal(place.read(), `# top\n${line('alice', one)}${line('bob', one)}\n# end`);
  writeFileSync(place.file, text);
  assert.equal((await place.token('revoke', 'alice')).code, 0);
  assert.equal(place.read(), `# top\n${line('bob', one)}\n# end`);
  assert.equal((await place.token('revoke', 'bob')).code, 0);
  assert.equal(place.read(), '# top\n\n# end');
});

test('wrong usage is 64 and changes nothing', async (t) => {
  const place = makeFolder(t);
  const with_file = ['--maintainers-file', place.file];
  const rows = [[], ['frobnicate'], ['add'], ['add', 'alice'], ['list'], ['revoke', 'alice'], ['revoke', ...with_file],
    ['add', ...with_file], ['add', 'alice', 'bob', ...with_file], ['add', '', ...with_file],
    ['add', 'a b', ...with_file], ['add', 'a\nb', ...with_file], ['add', 'ä', ...with_file],
    ['add', '#alice', ...with_file], ['add', 'a'.repeat(65), ...with_file],
    ['add', 'alice', '--role', 'owner', ...with_file], ['add', 'alice', '--expires', day(-1), ...with_file],
    ['add', 'alice', '--expires', '2027-02-29', ...with_file], ['add', 'alice', '--expires', '', ...with_file],
    ['add', 'alice', '--maintainers-file', ''], ['add', 'alice', '--maintainers-file'],
    ['list', 'alice', ...with_file], ['revoke', 'alice', '--hash', '', ...with_file],
    ['revoke', 'alice', '--hash', 'XY', ...with_file], ['revoke', 'alice', '--hash', '0'.repeat(65), ...with_file],
    ['revoke', 'a b', ...with_file]];
  for (const args of rows) {
    const { code, stdout, stderr } = await command(['token', ...args]);
    assert.equal(code, 64, `${args}: ${stderr}`);
    assert.equal(stdout, '');
    assert.match(stderr, /Usage: benchledger token/);
  }
  assert.deepEqual(readdirSync(place.folder), []);
  for (const args of [['--help'], ['add', '--help'], ['list', '--help'], ['revoke', '--help']]) {
    const { code, stdout } = await command(['token', ...args]);
    assert.equal(code, 0);
    assert.match(stdout, /^Usage: benchledger token/);
  }
});

test('a file that is malformed, or none, is left as it is', async (t) => {
  const place = makeFolder(t);
  const bad = `alice reviewer ${ZEROS}\nbob sovereign ${ZEROS}\n`;
  writeFileSync(place.file, bad);
  for (const args of [['add', 'carol'], ['list'], ['revoke', 'alice']]) {
    const { code, stdout, stderr } = await place.token(...args);
    assert.equal(code, 3);
    assert.equal(stdout, '');
    assert.match(stderr, /line 2: the role is neither/);
    assert.ok(!stderr.includes('sovereign'));
    assert.equal(place.read(), bad);
  }
  for (const [file, args, message] of [['', ['add', 'a'], /is no regular file/], ['absent', ['list'], /No such file/],
    ['absent', ['revoke', 'a'], /does not exist/], ['absent/file', ['add', 'a'], /its folder: No such file/],
    ['maintainers/file', ['add', 'a'], /Not a directory/]]) {
    const { code, stdout, stderr } = await command(['token', ...args, '--maintainers-file', path.join(place.folder, file)]);
    assert.equal(code, 3, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, message);
  }
  assert.deepEqual(readdirSync(place.folder), ['maintainers']);
});

test('no more lines than a service reads', async (t) => {
  const place = makeFolder(t);
  const text = `alice reviewer ${ZEROS}\n`.repeat(1000);
  writeFileSync(place.file, text);
  const { code, stdout, stderr } = await place.token('add', 'bob');
  assert.deepEqual([code, stdout], [3, '']);
  assert.match(stderr, /line 1001: is one too many/);
  assert.equal(place.read(), text);
  assert.deepEqual(readdirSync(place.folder), ['maintainers']);
});

test('a token that could not be printed is reported', async (t) => {
  const place = makeFolder(t);
  const child = spawn('sh', ['-c', `exec "$0" token add alice --maintainers-file "$1" >/dev/full`, BINARY, place.file]);
  let stderr = '';
  child.stderr.on('data', (data) => { stderr += data; });
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.equal(code, 3);
  assert.match(stderr, /revoke it/);
});

test('a folder that others hold locked is waited for', async (t) => {
  const place = makeFolder(t);
  const holder = spawn('flock', [place.folder, 'sh', '-c', 'echo held; read line'], { stdio: ['pipe', 'pipe', 'inherit'] });
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  let done = false;
  const adding = added(place, 'alice').then(() => { done = true; });
  await sleep(500);
  assert.ok(!done);
  holder.stdin.end('\n');
  await adding;
});

test('serve does not start with a file that is missing or malformed', async (t) => {
  const place = makeFolder(t);
  const start = (...args) => command(['serve', '--listen=127.0.0.1:0', '--state-dir', path.join(place.folder, 'state'),
    `--maintainers-file=${place.file}`, ...args]);
  for (const args of [[], ['--check-config']]) {
    const missing = await start(...args);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /maintainers_file: No such file or directory\n/);
    writeFileSync(place.file, `# c\nalice reviewer 0123hushhush\n`);
    const malformed = await start(...args);
    assert.equal(malformed.code, 2);
    assert.match(malformed.stderr, /maintainers_file: line 2: the hash is not 64 lower-case hex digits\n/);
    assert.ok(!malformed.stderr.includes('hushhush'));
    unlinkSync(place.file);
  }
  writeFileSync(place.file, `alice reviewer ${ZEROS}\n`);
  assert.equal((await start('--check-config')).code, 0);
});

test('a running service notices a changed file, and keeps to the old one when it is of no use', async (t) => {
  const place = makeFolder(t);
  writeFileSync(place.file, '');
  const service = await startService(t, { config: { maintainers_file: place.file } });
  const count = (pattern) => [...service.log.matchAll(pattern)].length;
  const heard = (pattern, times = 1) => until(() => count(pattern) >= times, () => service.log);
  await heard(/maintainers: 0 lines/g);
  await added(place, 'alice');
  await heard(/maintainers: 1 lines/g);
  await added(place, 'bob');
  await heard(/maintainers: 2 lines/g);
  const good = place.read();
  writeFileSync(place.file, `alice reviewer 0123hushhush\n`);
  await heard(/maintainers: the file is refused, those in force stay in force error="line 1: /g);
  unlinkSync(place.file);
  await heard(/stay in force error="No such file or directory"/g);
  await sleep(2500); /* said once, not every second */
  assert.equal(count(/stay in force/g), 2);
  writeFileSync(`${place.file}.new`, good);
  renameSync(`${place.file}.new`, place.file);
  await heard(/maintainers: 2 lines/g, 2);
  assert.ok(!service.log.includes('hushhush'));
  await t.test('SIGHUP reads it again though it has not changed', async () => {
    service.child.kill('SIGHUP');
    await heard(/maintainers: 2 lines/g, 3);
    for (let i = 0; i < 50; i++) service.child.kill('SIGHUP');
    assert.equal((await service.fetch('/healthz')).status, 200);
  });
  assert.deepEqual(await service.stop(), { code: 0, signal: null });
});

test('SIGHUP does nothing to a service without maintainers, also while it stops', async (t) => {
  const service = await startService(t);
  service.child.kill('SIGHUP');
  await sleep(200);
  assert.equal((await service.fetch('/healthz')).status, 200);
  service.child.kill('SIGTERM');
  for (let i = 0; i < 20; i++) service.child.kill('SIGHUP');
  assert.deepEqual(await service.ended, { code: 0, signal: null });
  assert.ok(!service.log.includes('maintainers'));
});
