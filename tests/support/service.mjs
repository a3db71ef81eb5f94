// Starts the real binary on a free port with folders of its own, and talks to it.
import { spawn, execFileSync } from 'node:child_process';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { seal } from './run.mjs';

export const BINARY = process.env.BENCHLEDGER_BINARY;
if (!BINARY) throw new Error('BENCHLEDGER_BINARY names the binary to test');

/** Runs the binary to its end: {code, stdout, stderr}. */
export function command(args, { env = {}, input } = {}) {
  return new Promise((resolve) => {
    const child = spawn(BINARY, args, { env: { PATH: process.env.PATH, ...env } });
    let stdout = '', stderr = '';
    child.stdout.on('data', (data) => { stdout += data; });
    child.stderr.on('data', (data) => { stderr += data; });
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

export class Service {
  constructor(folder, options) {
    this.folder = folder;
    this.options = options;
    this.store = options.store === undefined ? path.join(folder, 'data.git') : options.store;
    this.log = '';
  }

  async begin() {
    this.log = '';
    const { config = {}, env = {}, args = [] } = this.options;
    const flags = Object.entries({ rate_limit: 0, ...config }).map(([key, value]) => `--${key}=${value}`);
    if (this.store) flags.push('--store', this.store);
    this.child = spawn(BINARY, ['serve', '--listen', this.options.listen ?? '127.0.0.1:0',
      '--state-dir', path.join(this.folder, 'state'), ...flags, ...args], {
      env: { PATH: process.env.PATH, ASAN_OPTIONS: process.env.ASAN_OPTIONS ?? '', ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) => resolve({ code, signal }));
    });
    await new Promise((resolve, reject) => {
      this.child.stderr.on('data', (data) => {
        this.log += data;
        const found = /listening on (.*):(\d+)\n/.exec(this.log);
        if (found) {
          this.port = Number(found[2]);
          resolve();
        }
      });
      this.ended.then(() => reject(new Error(`the service did not start: ${this.log}`)));
    });
    this.base = `http://127.0.0.1:${this.port}`;
    return this;
  }

  fetch(place, options) {
    return fetch(this.base + place, options);
  }

  async json(place, options) {
    const response = await this.fetch(place, options);
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  async nonce(headers = {}) {
    return (await this.json('/api/bench/nonce', { headers })).body.nonce;
  }

  /** Posts a run file as it is. */
  post(run, { headers = {}, place = '/api/bench/submit' } = {}) {
    const body = typeof run === 'string' || Buffer.isBuffer(run) ? run : JSON.stringify(run);
    return this.json(place, {
      method: 'POST', body, headers: { 'content-type': 'application/json', ...headers },
    });
  }

  /** Fetches a nonce, seals and posts, as a browser would. */
  async submit(run, options) {
    return this.post(seal(run, await this.nonce()), options);
  }

  git(...args) {
    return execFileSync('git', ['--git-dir', this.store, ...args],
      { maxBuffer: 1 << 30, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  /** A file of the tip as a Buffer. */
  file(name) {
    return execFileSync('git', ['--git-dir', this.store, 'cat-file', 'blob', `HEAD:${name}`],
      { maxBuffer: 1 << 30 });
  }

  files() {
    return this.git('ls-tree', '-r', '--name-only', 'HEAD').trim().split('\n');
  }

  /** Commits what CHANGE makes of the tip's index, called with a git(...args); while it is stopped. */
  replace(change) {
    const env = { ...process.env, GIT_DIR: this.store, GIT_INDEX_FILE: path.join(this.folder, 'index'),
      GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' };
    const git = (...args) => execFileSync('git', args, { env, encoding: 'utf8' }).trim();
    git('read-tree', 'HEAD');
    change(git);
    git('update-ref', 'HEAD', git('commit-tree', git('write-tree'), '-p', 'HEAD', '-m', 'by hand'));
  }

  /** Ends it with a signal and says how: {code, signal}. */
  async stop(signal = 'SIGTERM') {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    return this.ended;
  }

  async restart(options) {
    await this.stop();
    if (options) this.options = { ...this.options, ...options };
    return this.begin();
  }
}

/** Starts a service for test context T; it is stopped and its folder removed when the test ends. */
export async function startService(t, options = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-test-'));
  const service = new Service(folder, options);
  t.after(async () => {
    if (service.child) await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await service.begin();
  return service;
}

/** Holds the store's commit lock, as `index` or another writer would, until released. */
export async function holdCommitLock(service) {
  const holder = spawn('flock', [path.join(service.store, 'benchledger.lock'), 'sh', '-c',
    'echo held; read line'], { stdio: ['pipe', 'pipe', 'inherit'] });
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  return () => new Promise((resolve) => {
    holder.on('close', resolve);
    holder.stdin.end('\n');
  });
}

/** A nonce of the service's form, for any time and secret. */
export function makeNonce(secret, ms = Date.now()) {
  const key = createHash('sha256').update(secret).digest();
  const id = createHmac('sha256', key).update('benchledger key id').digest('hex').slice(0, 8);
  const payload = `n1.${id}.${ms}.${randomBytes(16).toString('hex')}`;
  return `${payload}.${createHmac('sha256', key).update(payload).digest('hex')}`;
}

/** Sends PARTS (text, bytes, or a number of ms to wait) and reads until the end or TIMEOUT. */
export function raw(port, parts, { timeout = 5000, host = '127.0.0.1' } = {}) {
  return new Promise((resolve) => {
    const socket = net.connect(port, host);
    const started = Date.now();
    const ended = new Promise((wake) => socket.once('close', wake));
    let text = '', error = null, timer = null;
    const finish = (closed) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, error, closed, ms: Date.now() - started });
    };
    timer = setTimeout(() => finish(false), timeout);
    socket.on('data', (data) => { text += data.toString('latin1'); });
    socket.on('error', (problem) => { error = problem; });
    socket.on('close', () => finish(true));
    socket.on('connect', async () => {
      for (const part of parts) {
        if (socket.destroyed) return;
        if (typeof part === 'number') await new Promise((wake) => setTimeout(wake, part));
        else if (!socket.write(part)) await Promise.race([ended, once(socket, 'drain').catch(() => {})]);
      }
    });
  });
}

export const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

/** The ledger's events, after checking its chain, numbers and canonical form. */
export function readLedger(service, { canonical, sha256 }) {
  const days = service.files().filter((name) => name.startsWith('ledger/')).sort();
  let previous = '0'.repeat(64), seq = 0;
  const events = [];
  for (const day of days) {
    const text = service.file(day).toString('utf8');
    if (!text.endsWith('\n')) throw new Error(`${day} does not end with a newline`);
    for (const line of text.slice(0, -1).split('\n')) {
      const event = JSON.parse(line);
      if (canonical(event) !== line) throw new Error(`${day}: not canonical: ${line}`);
      if (event.prev !== previous) throw new Error(`${day}: broken chain at ${event.seq}`);
      if (event.seq !== ++seq) throw new Error(`${day}: seq ${event.seq} where ${seq} belongs`);
      previous = sha256(line);
      events.push(event);
    }
  }
  return events;
}
