// The real binary with a remote store, many clients, and what must be true of the dataset afterwards.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { assertSound } from './audit.mjs';
import { gitEnvironment } from './remote.mjs';
import { canonical, makeRun, seal, sha256 } from './run.mjs';
import { eachProcess, SecretWatch } from './secrets.mjs';
import { BINARY, command, readLedger, Service, sleep } from './service.mjs';

export const FULL = process.env.BENCHLEDGER_FULL === '1';
const sorted = (list) => [...list].sort();

/** A Service whose dataset is REMOTE's; `mirror` reads its own repository. */
export class RemoteService extends Service {
  constructor(folder, options, remote, watch) {
    super(folder, { store: remote.url, ...options });
    Object.assign(this, { remote, watch, allLogs: '' });
    this.state = path.join(folder, 'state');
    this.mirrorPath = path.join(this.state, 'mirror.git');
  }

  async begin() {
    try {
      return await super.begin();
    } finally {
      const { stderr } = this.child;
      this.allLogs += this.log;
      stderr.on('data', (data) => { this.allLogs += data; });
    }
  }

  async fetch(place, options) {
    const response = await super.fetch(place, options);
    const text = await response.clone().text();
    this.watch.look(`the answer to ${place}`, `${JSON.stringify([...response.headers])}${text}`);
    return response;
  }

  git(...args) {
    return this.remote.git(...args);
  }

  file(name) {
    return this.remote.file(name);
  }

  files() {
    return this.remote.files();
  }

  mirror(...args) {
    return execFileSync('git', ['--git-dir', this.mirrorPath, ...args], { maxBuffer: 1 << 30, encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'], env: gitEnvironment(this.folder) });
  }

  /** Resolves when it is ready, with the answer of /readyz. */
  ready(ms = 30_000) {
    return until(async () => {
      const answer = await this.json('/readyz');
      return answer.status === 200 && answer;
    }, { ms, what: 'the service is ready', why: () => this.recently() });
  }

  /** Resolves with the reasons when one of them begins with WORD. */
  unready(word, ms = 30_000) {
    let said = null;
    return until(async () => {
      const { status, body } = await this.json('/readyz');
      said = body;
      return status === 503 && body.reasons.some((reason) => reason.startsWith(word)) && body.reasons;
    }, { ms, what: `/readyz says ${word}`, why: () => `${JSON.stringify(said)}\n${this.recently()}` });
  }

  /** The end of its log, without the requests. */
  recently() {
    return this.log.split('\n').filter((line) => !/ (request|stored) id=/.test(line)).join('\n').slice(-3000);
  }

  /** What became of a sealed run, by its submitted digest. */
  async fate(run) {
    return (await this.json(`/api/bench/runs/${run.runId}?digest=${run.digest}`)).body;
  }

  /** Resolves when every one of the sealed RUNS has STATUS. */
  async settled(runs, status = 'published', ms = 60_000) {
    const deadline = Date.now() + ms;
    for (const run of runs)
      await until(async () => (await this.fate(run)).status === status, { ms: Math.max(1, deadline - Date.now()),
        what: `${run.runId} is ${status}`, why: () => this.recently() });
  }

  /** CPU seconds of the service and of its ended children. */
  cpuSeconds() {
    const fields = readFileSync(`/proc/${this.child.pid}/stat`, 'latin1').replace(/^.*\) /, '').split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  }

  /** The most memory it has had, in MB. */
  peakMemory() {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${this.child.pid}/status`, 'latin1'))[1]) / 1024;
  }

  /** Processes that have to do with its folder; none once it has ended. */
  leftovers() {
    const found = [];
    eachProcess((pid, line) => {
      if ([line, readlinkSync(`/proc/${pid}/cwd`), readFileSync(`/proc/${pid}/environ`, 'latin1')]
        .some((text) => text.includes(this.folder))) found.push(line);
    });
    return found;
  }

  /** No secret has shown. Call it at the end of a test, while everything is still there. */
  checkSecrets() {
    return this.watch.check([this], [this.remote]);
  }
}

/**
 * Starts a service on REMOTE that looks for the commits of others every second. OPTIONS as of startService; token
 * (null: none), secret (of the nonces), prepare(folder, service) before the start (service.release is then called
 * when it has ended), begin: false leaves starting to the caller. Its secrets are watched for.
 */
export async function startRemoteService(t, remote, { config = {}, env = {}, token = remote.token,
  secret = `nonce${randomBytes(24).toString('hex')}`, prepare = () => {}, begin = true, ...options } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-test-'));
  const watch = new SecretWatch();
  watch.add('token', token);
  watch.add('nonce secret', secret);
  watch.begin(t);
  const service = new RemoteService(folder, {
    config: { remote_poll_ms: 1000, ...(remote.caFile ? { git_ca_file: remote.caFile } : {}), ...config },
    env: { ...(token ? { BENCH_GITHUB_TOKEN: token } : {}), ...(secret ? { BENCH_NONCE_SECRET: secret } : {}), ...env },
    ...options }, remote, watch);
  t.after(async () => {
    if (service.child) await service.stop('SIGKILL');
    service.release?.();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  await prepare(folder, service);
  if (begin) await service.begin();
  return service;
}

/** What serving STORE with FLAGS says when it does not even start: {code, stderr}; code null when it did. */
export function refusal(store, flags, env) {
  return new Promise((resolve) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-test-'));
    execFile(BINARY, ['serve', '--listen=127.0.0.1:0', `--store=${store}`, `--state_dir=${folder}/state`, ...flags],
      { env: { PATH: process.env.PATH, ...env }, timeout: 10_000, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
        rmSync(folder, { recursive: true, force: true });
        resolve({ code: error ? error.code : 0, stderr });
      });
  });
}

/** Resolves with the first truthy value of CHECK, called again and again. */
export async function until(check, { ms = 90_000, what = 'it happens', why = () => '' } = {}) {
  const deadline = Date.now() + ms;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${ms} ms\n${why()}`);
    await sleep(50);
  }
}

/** A run of about 70 KB, most of it the trace. */
export const largeRun = (id, seed, more = {}) => makeRun({ id, seed, cells: ['llm', 'embed-single'], chunks: 870, ...more });
/** One of about 2.4 KB. */
export const smallRun = (id, seed, more = {}) => makeRun({ id, seed, cells: ['embed-single'], ...more });

/** COUNT runs NAME-0000... with nonces of SERVICE, sealed. MAKE(id, seed) gives the run. */
export async function sealedRuns(service, name, count, make = smallRun) {
  const runs = [];
  for (let i = 0; i < count; i++)
    runs.push(seal(make(`${name}-${String(i).padStart(4, '0')}`, i + 1), await service.nonce()));
  return runs;
}

/**
 * Posts the sealed RUNS, CLIENTS at a time, each client every CLIENTS-th in order: [{run, client, status, body,
 * ms}], with {error} in place of status and body where the connection broke.
 */
export async function postAll(service, runs, { clients = 10, headers } = {}) {
  const results = new Array(runs.length);
  await Promise.all(Array.from({ length: Math.min(clients, runs.length) }, async (_, client) => {
    for (let i = client; i < runs.length; i += clients) {
      const started = performance.now();
      const answer = await service.post(runs[i], { headers }).catch((error) => ({ error }));
      results[i] = { run: runs[i], client, ...answer, ms: performance.now() - started };
    }
  }));
  return results;
}

export function assertAll(results, status) {
  for (const { run, status: found, body, error } of results)
    assert.equal(found, status, `${run.runId}: ${error ?? JSON.stringify(body)}`);
}

/** Posts the sealed RUNS and waits until all are published, whether the answer came in time or not (200 or 202). */
export async function land(service, runs, options) {
  const results = await postAll(service, runs, options);
  for (const { run, status, body, error } of results)
    assert.ok(status === 200 || status === 202, `${run.runId}: ${error ?? JSON.stringify(body)}`);
  await service.settled(runs);
  return results;
}

/** The value below which the share P of NUMBERS lies. */
export function quantile(numbers, p) {
  const ordered = [...numbers].sort((a, b) => a - b);
  return ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * p))];
}

export function describeTimes(results) {
  const times = results.map(({ ms }) => ms);
  return `median ${Math.round(quantile(times, 0.5))} ms, p95 ${Math.round(quantile(times, 0.95))} ms, most ${Math.round(Math.max(...times))} ms`;
}

export function describePushes(pushes) {
  const bytes = pushes.map((push) => push.bytes);
  const total = bytes.reduce((sum, size) => sum + size, 0);
  return `${pushes.length} pushes, ${total} bytes: median ${quantile(bytes, 0.5)}, most ${Math.max(0, ...bytes)} a push`;
}

/** Asserts that each client's runs were accepted in the order in which it sent them. */
export function assertClientOrder(results, events) {
  const seqOf = new Map(events.map(({ runId, seq }) => [runId, seq]));
  const last = new Map();
  for (const { run, client } of results) {
    const seq = seqOf.get(run.runId);
    assert.ok(seq > (last.get(client) ?? 0), `${run.runId} has seq ${seq}, after ${last.get(client)}`);
    last.set(client, seq);
  }
}

function addedOnce(remote) {
  const log = remote.git('log', '--format=', '--name-status', '--no-renames', remote.branch, '--', 'runs', 'quarantine');
  const lines = log.split('\n').filter(Boolean);
  for (const line of lines) assert.match(line, /^A\t/, 'a run file is added and never touched again');
  assert.equal(new Set(lines).size, lines.length, 'no run file is added twice');
}

/** The ledger's accept events, after everything that must agree with them: RUNS are ids, exactly those there. */
export async function checkDataset(remote, runs) {
  const events = readLedger(remote, { canonical, sha256 });
  const ids = events.map(({ runId }) => runId);
  assert.equal(new Set(ids.map((id) => id.toLowerCase())).size, ids.length, 'no run is in the ledger twice');
  const nonces = events.map(({ nonceSha256 }) => nonceSha256);
  assert.equal(new Set(nonces).size, nonces.length, 'no nonce was spent twice');
  if (runs) assert.deepEqual(sorted(ids), sorted(runs));
  const paths = events.map((event) => event.path);
  const manifest = JSON.parse(remote.file('index/manifest.json'));
  const entries = manifest.segments.flatMap((row) => JSON.parse(remote.file(row.path)));
  assert.deepEqual(sorted(remote.files().filter((name) => /^(runs|quarantine)\//.test(name))), sorted(paths));
  assert.deepEqual(entries.map((entry) => entry.path), paths, 'the index has the order of the ledger');
  assert.equal(manifest.entries, entries.length);
  const rebuilt = await command(['index', '--dry-run', remote.repo]);
  assert.equal(rebuilt.code, 0, rebuilt.stderr);
  if (manifest.summaryComplete) assert.match(rebuilt.stdout, /, unchanged/, 'the index is what a rebuild gives');
  assert.equal(remote.git('rev-list', '--merges', '--count', remote.branch).trim(), '0', 'history is linear');
  addedOnce(remote);
  remote.git('fsck', '--full', '--strict', '--no-dangling');
  return events;
}

/** The remote's tip is the mirror's, and nothing is pending. */
export function assertInStep(service) {
  assertSound(service.remote.repo);
  assert.equal(service.mirror('rev-parse', `refs/heads/${service.remote.branch}`).trim(), service.remote.tip());
}

/** Digests of the runs that ended as WORD (declined, conflict). */
export const parked = (service, word) => sorted(service.mirror('for-each-ref', '--format=%(refname)',
  `refs/parked/${word}/`).split('\n').filter(Boolean).map((name) => name.split('/').at(-1)));

/** Makes the service's receipt key at folder/receipt.key and tells its configuration. */
export async function receiptKey(service) {
  const file = path.join(service.folder, 'receipt.key');
  const made = await command(['keygen', file]);
  assert.equal(made.code, 0, made.stderr);
  service.watch.addPrivateKey(file);
  service.options.config.receipt_key_file = file;
}

/** Whether `verify-receipt` accepts RECEIPT by the public key that the dataset has. */
export async function verifyReceipt(service, receipt) {
  const key = path.join(service.folder, 'receipt.pub'), file = path.join(service.folder, 'receipt.json');
  writeFileSync(key, service.remote.file(`keys/${receipt.payload.keyId}.pub`));
  writeFileSync(file, JSON.stringify(receipt));
  return command(['verify-receipt', file, '--key', key]);
}
