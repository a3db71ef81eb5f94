// Long commands: a bar on a terminal, plain lines elsewhere, and a signal that leaves everything as it was.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { makeRun, seal } from '../support/run.mjs';
import { BINARY, sleep } from '../support/service.mjs';

const WANTED_MS = 1500;
let folder, data, files = 0;

/* One run of 3 MB under many names: as many as this machine reads for a while, and little to write. */
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'benchledger-progress-'));
  data = path.join(folder, 'data');
  const month = path.join(data, 'runs/2026/01');
  mkdirSync(month, { recursive: true });
  const first = path.join(month, 'progress-run-0000.json');
  writeFileSync(first, JSON.stringify(seal(makeRun({ id: 'progress-run-0000', chunks: 9000, iterations: 9 }), undefined)));
  const grow = (count) => {
    for (; files < count; files++)
      if (files) linkSync(first, path.join(month, `progress-run-${String(files).padStart(4, '0')}.json`));
  };
  grow(20);
  const began = Date.now();
  spawnSync(BINARY, ['index', '--dry-run', data]);
  grow(Math.min(3000, Math.ceil(20 * WANTED_MS / (Date.now() - began))));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Whether the process has a handler for SIGINT. */
function catches(pid) {
  const [, mask] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return (BigInt(`0x${mask}`) & 2n) !== 0n;
}

const COMMANDS = { index: () => [data], rows: () => [data], audit: () => [data], replay: () => ['--rules', '3', data],
  export: () => [data, path.join(folder, 'out')] };

for (const [name, args] of Object.entries(COMMANDS)) {
  test(`${name} shows a bar on a terminal`, () => {
    const { status, stdout } = spawnSync('/usr/bin/python3', ['-c',
      'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))', BINARY, name, ...args()],
    { encoding: 'utf8', maxBuffer: 1 << 28 });
    assert.notEqual(status, 64);
    const bars = [...stdout.matchAll(/\r\w+ \[(#*)(\.*)\] (\d+) of (\d+) files, \d+ MB\/s/g)];
    assert.ok(bars.length > 1, `${bars.length} bars`);
    for (const [, done, left, at, all] of bars) {
      assert.equal(done.length + left.length, 30);
      assert.equal(done.length, Math.ceil(30 * Number(at) / files - 1e-9));
      assert.equal(Number(all), files);
    }
    const last = stdout.lastIndexOf(bars.at(-1)[0]);
    assert.ok(stdout.indexOf('\r\u001b[K', last) > last, 'it is taken away');
  });

  for (const signal of ['SIGINT', 'SIGTERM'])
    test(`${name} ends on ${signal} and leaves everything as it was`, async () => {
      const listing = () => spawnSync('find', [folder], { encoding: 'utf8' }).stdout;
      const whole = listing();
      const child = spawn(BINARY, [name, ...args()], { stdio: ['ignore', 'pipe', 'pipe'] });
      let told = '';
      child.stderr.on('data', (text) => { told += text; });
      child.stdout.resume();
      const ended = new Promise((resolve) => { child.on('close', (...how) => resolve(how)); });
      for (let tries = 0; !catches(child.pid) && tries < 500; tries++) await sleep(10);
      await sleep(100);
      assert.equal(child.kill(signal), true);
      assert.deepEqual(await ended, [3, null], told);
      assert.match(told, /stopped/);
      assert.doesNotMatch(told, /\r/, 'no bar in a file');
      assert.equal(listing(), whole);
    });
}

test('nothing was made by the commands that were stopped', () => {
  assert.ok(!existsSync(path.join(data, 'index')));
  if (existsSync(path.join(folder, 'out'))) assert.deepEqual(readdirSync(path.join(folder, 'out')).filter((name) => name.includes('new')), []);
});
