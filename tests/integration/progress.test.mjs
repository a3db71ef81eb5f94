// Long commands: a bar on a terminal, plain lines elsewhere, and a signal that leaves everything as it was.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { makeRun, seal } from '../support/run.mjs';
import { BINARY, sleep } from '../support/service.mjs';

const FILES_MOST = 5000;
let folder, data, first, files = 1;

/* One run of 3 MB under many names: much to read and little to write. */
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'benchledger-progress-'));
  data = path.join(folder, 'data');
  const month = path.join(data, 'runs/2026/01');
  mkdirSync(month, { recursive: true });
  first = path.join(month, 'progress-run-0000.json');
  writeFileSync(first, JSON.stringify(seal(makeRun({ id: 'progress-run-0000', chunks: 9000, iterations: 9 }), undefined)));
  grow(80);
});
after(() => rmSync(folder, { recursive: true, force: true }));

function grow(count) {
  for (; files < count; files++) linkSync(first, path.join(path.dirname(first), `progress-run-${String(files).padStart(4, '0')}.json`));
}

/** Watches a command; again with more files when it was through before there was enough to see, however fast this machine is. */
async function watch(look) {
  for (let seen; ; grow(files * 2)) {
    seen = await look();
    if (seen.enough || files * 2 > FILES_MOST) return seen;
  }
}

/** Whether the process has a handler for SIGINT. */
function catches(pid) {
  let status = '';
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {} // it is over
  const [, mask] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status) ?? ['', '0'];
  return (BigInt(`0x${mask}`) & 2n) !== 0n;
}

const COMMANDS = { index: () => [data], rows: () => [data], audit: () => [data], replay: () => ['--rules', '3', data],
  export: () => [data, path.join(folder, 'out')] };

for (const [name, args] of Object.entries(COMMANDS)) {
  test(`${name} shows a bar on a terminal`, async () => {
    const { status, stdout, bars } = await watch(() => {
      const { status, stdout } = spawnSync('/usr/bin/python3', ['-c',
      'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))', BINARY, name, ...args()],
      { encoding: 'utf8', maxBuffer: 1 << 28 });
      const bars = [...stdout.matchAll(/\r\w+ \[(#*)(\.*)\] (\d+) of (\d+) files, \d+ MB\/s/g)];
      return { status, stdout, bars, enough: bars.length > 1 || status === 64 };
    });
    assert.notEqual(status, 64);
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
      let whole;
      const { how, told } = await watch(async () => {
        whole = listing();
        const child = spawn(BINARY, [name, ...args()], { stdio: ['ignore', 'pipe', 'pipe'] });
        let told = '', over = false;
        child.stderr.on('data', (text) => { told += text; });
        child.stdout.resume();
        child.on('exit', () => { over = true; });
        const ended = new Promise((resolve) => { child.on('close', (...how) => resolve(how)); });
        while (!over && !catches(child.pid)) await sleep(5);
        await sleep(50);
        child.kill(signal);
        const how = await ended;
        return { how, told, enough: how[0] === 3 || how[1] !== null };
      });
      assert.deepEqual(how, [3, null], told);
      assert.match(told, /stopped/);
      assert.doesNotMatch(told, /\r/, 'no bar in a file');
      assert.equal(listing(), whole);
    });
}

test('nothing was made by the commands that were stopped', () => {
  assert.ok(!existsSync(path.join(data, 'index')));
  if (existsSync(path.join(folder, 'out'))) assert.deepEqual(readdirSync(path.join(folder, 'out')).filter((name) => name.includes('new')), []);
});
