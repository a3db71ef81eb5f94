// The command line of `serve`: help, configuration, refusals to start.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { makeRun, seal } from '../support/run.mjs';
import { command, startService } from '../support/service.mjs';

function folderOf(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('help and version', async () => {
  const help = await command(['--help']);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /serve/);
  const serve = await command(['serve', '--help']);
  assert.equal(serve.code, 0);
  assert.match(serve.stdout, /--rate_limit[^]*default: 20/);
  assert.match((await command(['serve', '--help-markdown'])).stdout, /^\| key \|/);
  assert.equal((await command(['--version'])).code, 0);
  assert.equal((await command(['no-such-command'])).code, 64);
  assert.equal((await command([])).code, 64);
});

test('a listen address that is none is refused', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-listen-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const listen of ['127.0.0.1:99999', '127.0.0.1:65536', '127.0.0.1', 'nonsense', '18183', '::1:80']) {
    const { code, stderr } = await command(['serve', '--state-dir', folder, `--listen=${listen}`]);
    assert.ok(code === 1 || code === 2, `${listen}: ${code}`);
    assert.match(stderr, /listen/);
  }
});

test('--check-config prints the values in effect with secrets masked', async (t) => {
  const folder = folderOf(t);
  const file = path.join(folder, 'serve.ini');
  writeFileSync(file, '# how it is run here\nrate_limit = 7\nqueue_limit = 8 ; few\n');
  const checked = await command(['serve', '--config', file, '--queue-limit', '9', '--check-config'], {
    env: { BENCH_NONCE_SECRET: 'very secret', BENCHLEDGER_MAX_BODY: '5000' },
  });
  assert.equal(checked.code, 0, checked.stderr);
  assert.match(checked.stdout, /^rate_limit = 7$/m);
  assert.match(checked.stdout, /^queue_limit = 9$/m);
  assert.match(checked.stdout, /^max_body = 5000$/m);
  assert.match(checked.stdout, /nonce_secret: \*\*\*/);
  assert.ok(!checked.stdout.includes('very secret'));
  writeFileSync(file, 'rate_limit = 7\nlimit = 8\n');
  const wrong = await command(['serve', '--config', file, '--check-config']);
  assert.equal(wrong.code, 2);
  assert.equal(wrong.stderr, `benchledger: ${file}:2: unknown key 'limit'\n`);
});

test('what cannot be served is refused with a reason', async (t) => {
  const folder = folderOf(t);
  const state = ['--state-dir', path.join(folder, 'state'), '--listen', '127.0.0.1:0'];
  for (const [args, code, part] of [
    [['--store', 'file:///nowhere/a/b.git'], 2, /nonce_secret: .*BENCH_NONCE_SECRET/],
    [['--store', 'https://me:hush@git.example/a/b.git'], 2, /store: .*BENCH_GITHUB_TOKEN/],
    [['--trusted-proxies', '10.0.0.0/99'], 2, /10\.0\.0\.0\/99/],
    [['--mmlu-key', path.join(folder, 'none.json')], 2, /none\.json/],
    [['--nonce-secret', 'x'], 2, /command line/],
    [['--listen', 'nowhere'], 1, /ADDR:PORT/],
    [['--log-format', 'xml'], 2, /text json/]]) {
    const ended = await command(['serve', ...state, ...args]);
    assert.equal(ended.code, code, `${args}: ${ended.stderr}`);
    assert.match(ended.stderr, part);
  }
});

test('a second service on one store does not start; a taken port is told', async (t) => {
  const service = await startService(t);
  const other = folderOf(t);
  const second = await command(['serve', '--listen', '127.0.0.1:0', '--state-dir', other, '--store',
    service.store]);
  assert.equal(second.code, 1);
  assert.match(second.stderr, /^benchledger: store: /m);
  const taken = await command(['serve', '--listen', `127.0.0.1:${service.port}`, '--state-dir', other]);
  assert.equal(taken.code, 1);
  assert.match(taken.stderr, /in use/);
  assert.equal((await service.json('/healthz')).status, 200);
});

test('missing folders are made, JSON logs are JSON', async (t) => {
  const folder = folderOf(t);
  const service = await startService(t, {
    store: path.join(folder, 'deep', 'data.git'), config: { log_format: 'json', log_level: 'debug' },
    args: ['--state-dir', path.join(folder, 'a', 'b', 'state')],
  }).catch((error) => error);
  if (service instanceof Error) assert.fail(service.message);
  assert.ok(existsSync(path.join(folder, 'a', 'b', 'state')));
  await service.json('/healthz?x="\\');
  await service.stop();
  const lines = service.log.trim().split('\n').filter((line) => !line.startsWith('listening on'));
  assert.ok(lines.length >= 2);
  for (const line of lines) assert.ok(JSON.parse(line).time, line);
});

test('a verdict without an answer key says that answers were not parsed again', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-key-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'run.json');
  writeFileSync(file, JSON.stringify(seal(makeRun({ cells: ['quality-mmlu'] }))));
  const without = JSON.parse((await command(['check', '--json', '--no-mmlu-key', file])).stdout);
  assert.equal(without.answersParsed, false);
  assert.equal(without.ok, true);
  const withKey = JSON.parse((await command(['check', '--json', file])).stdout);
  assert.ok(!('answersParsed' in withKey));
  assert.match((await command(['check', '--no-mmlu-key', file])).stdout, /not parsed again/);
});
