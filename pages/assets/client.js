// What a runner needs to hand its runs in: nonce, digest, local check, submission that survives lost answers, and a
// file for later when the service is away. No dependencies; import it from the service that is to get the runs.
//
//   import { submit } from 'https://bench.example.org/client.js';
//   const { outcome, page } = await submit(run, { onProgress: ({ stage }) => console.log(stage) });
//
// Every failure is a BenchError with a stable `code`: those of the service (invalid-shape, rate-limited,
// bench-store-unbound ...) and, from here, unreachable, origin-not-allowed, bad-answer, aborted, no-webassembly,
// validator-failed and out-of-memory.

/** The service that this module came from, also as the copy in /assets/: where runs go unless `service` says otherwise. */
const HOME = new URL('.', import.meta.url).href.replace(/\/assets\/$/, '/');
/** The service takes no larger file. */
export const LIMIT_BYTES = 4 * 1024 * 1024;
const WORTH_PACKING = 8 * 1024;

export class BenchError extends Error {
  name = 'BenchError';

  /**
   * `status` (0: no answer), `details` (the answer's other members: errors, computed, reason, path ...),
   * `retryAfterSec` where the service asks to wait, and `run` where a submission failed for good: the sealed run,
   * without its nonce, as `exportRun` saves it.
   */
  constructor(code, message, { status = 0, details = {}, retryAfterSec, cause } = {}) {
    super(message, { cause });
    Object.assign(this, { code, status, details, retryAfterSec });
  }

  /** Whether the run itself is fine and only the service is not there for it: keep it as a file. */
  get away() {
    return ['unreachable', 'origin-not-allowed', 'bad-answer', 'internal-error', 'bench-store-unbound', 'store-unavailable', 'rate-limited',
      'busy'].includes(this.code);
  }
}

const write = (value) => {
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${write(value[key])}`).join(',')}}`;
};

/** A copy of RUN as JSON holds it. */
function copy(run) {
  let made;
  try {
    made = JSON.parse(JSON.stringify(run));
  } catch (cause) {
    throw new BenchError('invalid-json', 'The run cannot be written as JSON.', { cause });
  }
  if (made === null || typeof made !== 'object' || Array.isArray(made))
    throw new BenchError('invalid-shape', 'The run is not an object.');
  return made;
}

/** What the digest is made of: keys sorted by UTF-16 units, no white space, without `digest` and `nonce`. */
export function canonical(run) {
  const { digest: _digest, nonce: _nonce, ...rest } = copy(run);
  return write(rest);
}

const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The digest that RUN should carry. Pages without a secure context have no WebCrypto: there the validator does it. */
export async function digest(run, { service = HOME } = {}) {
  if (globalThis.crypto?.subtle)
    return hex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonical(run))));
  return (await validatorOf(service)).digest(run);
}

const decode = (bytes) => new TextDecoder().decode(bytes);
const bytesOf = (file) => {
  if (file instanceof Uint8Array) return file;
  if (file instanceof ArrayBuffer) return new Uint8Array(file);
  return new TextEncoder().encode(typeof file === 'string' ? file : JSON.stringify(file));
};

/**
 * The service's own validator, compiled to WebAssembly: what it says of a file is what the service says. A FILE is
 * bytes, text or a run. It works at once and without a network; a file of 1 MB takes some 50 ms.
 */
export class Validator {
  #module;
  #instance = null;

  /** MODULE: a compiled WebAssembly.Module. */
  constructor(module) {
    this.#module = module;
  }

  static async load(url = new URL('assets/validator.wasm', HOME)) {
    if (typeof WebAssembly !== 'object') throw new BenchError('no-webassembly', 'This browser has no WebAssembly.');
    const response = await reach(url, {});
    if (!response.ok)
      throw new BenchError('no-webassembly', 'This service has no validator for browsers.', { status: response.status });
    try {
      return new Validator(await WebAssembly.compile(await response.arrayBuffer()));
    } catch (cause) {
      throw new BenchError('no-webassembly', 'The validator could not be compiled here.', { cause });
    }
  }

  /** Calls WORK with the exports; after a trap the instance is thrown away. */
  #ask(work) {
    try {
      this.#instance ??= new WebAssembly.Instance(this.#module);
      return work(this.#instance.exports);
    } catch (cause) {
      const exhausted = this.#instance?.exports.exhausted() === 1;
      this.#instance = null;
      throw exhausted
        ? new BenchError('out-of-memory', 'The file takes more memory than the validator may use.', { cause })
        : new BenchError('validator-failed', 'The validator could not cope with this file.', { cause });
    }
  }

  /** The result of the question WORD about FILE, as bytes; null when it has none. */
  #question(word, file, ...more) {
    return this.#ask((module) => {
      const bytes = bytesOf(file);
      const place = module.input(bytes.length);
      new Uint8Array(module.memory.buffer, place, bytes.length).set(bytes);
      if (module[word](...more) === 0 && word !== 'dry_run') return null;
      return new Uint8Array(module.memory.buffer, module.result(), module.result_size()).slice();
    });
  }

  /** The very line that `benchledger check --json NAME` prints. */
  checkLine(file, { name = 'run.json', anyProtocol = false } = {}) {
    const called = new TextEncoder().encode(name);
    this.#ask((module) => new Uint8Array(module.memory.buffer, module.name(called.length), called.length).set(called));
    return decode(this.#question('check', file, anyProtocol ? 1 : 0));
  }

  /** The same as an object: {ok, digest, shapeErrors, flags, summaries, rulesVersion} or {ok, error}. */
  check(file, options) {
    return JSON.parse(this.checkLine(file, options));
  }

  /** What POST /api/bench/validate would answer, refusals too. */
  dryRun(file, { now = Date.now() } = {}) {
    return JSON.parse(decode(this.#question('dry_run', file, now)));
  }

  /** In hex; null when the file is no JSON object. */
  digest(file) {
    const found = this.#question('digest', file);
    return found && decode(found);
  }

  canonical(file) {
    return this.#question('canonical', file);
  }

  /** The bytes that would be published. */
  scrub(file, { now = Date.now() } = {}) {
    return this.#question('scrub', file, now);
  }

  /** The run as the service shows it: markup, everything from the file escaped. null: no run file. */
  runPage(file) {
    const found = this.#question('run_page', file);
    return found && decode(found);
  }
}

const validators = new Map();

function validatorOf(service) {
  if (!validators.has(service)) {
    const loading = Validator.load(new URL('assets/validator.wasm', service));
    validators.set(service, loading);
    loading.catch(() => validators.delete(service)); // the next one tries again
  }
  return validators.get(service);
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isRun = (file) => isObject(file) && !(file instanceof Uint8Array) && !(file instanceof ArrayBuffer);

/**
 * A file as it stands. A run that is still an object is what `submit` would send, with its digest put in; one that has
 * a wrong digest keeps it, so that it is refused.
 */
async function read(file, options) {
  if (file instanceof Blob) return bytesOf(await file.arrayBuffer());
  if (!isRun(file)) return bytesOf(file);
  return bytesOf(await seal(file, options).catch((error) => {
    if (error.code === 'digest-mismatch') return file;
    throw error;
  }));
}

/**
 * Judges a file (bytes, text or a Blob) or a run without sending it: {...check, dryRun}, see Validator. A run may lack
 * its digest; with `reseal` also a wrong one is replaced, as in `submit`.
 */
export async function check(file, { service = HOME, reseal = false, ...options } = {}) {
  const [validator, bytes] = await Promise.all([validatorOf(service), read(file, { service, reseal })]);
  return { ...validator.check(bytes, options), dryRun: validator.dryRun(bytes, options) };
}

/** fetch that ends in time and fails with a BenchError. */
async function reach(url, { signal, timeoutMs = 120_000, ...options }) {
  const end = new AbortController();
  const stop = () => end.abort(signal.reason);
  const late = setTimeout(() => end.abort(), timeoutMs);
  signal?.addEventListener('abort', stop);
  try {
    if (signal?.aborted) stop();
    const response = await fetch(url, { ...options, signal: end.signal });
    const body = await response.arrayBuffer(); // an answer that breaks off is a lost one
    return new Response([204, 304].includes(response.status) ? null : body, response);
  } catch (cause) {
    throw signal?.aborted ? aborted(signal)
      : new BenchError('unreachable', 'The service cannot be reached.', { cause });
  } finally {
    clearTimeout(late);
    signal?.removeEventListener('abort', stop);
  }
}

const aborted = (signal) => new BenchError('aborted', 'It was stopped.', { cause: signal.reason });

function pause(ms, signal) {
  return new Promise((wake, fail) => {
    const stop = () => {
      clearTimeout(timer);
      fail(aborted(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      wake();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
  });
}

/** What a proxy in between means when it answers in the service's place. */
const BY_STATUS = { 413: 'payload-too-large', 415: 'unsupported-media-type', 429: 'rate-limited', 503: 'store-unavailable' };

/** Retry-After as seconds or as a date; undefined without either. */
function secondsOf(told) {
  const seconds = Number(told ?? NaN), date = (Date.parse(told) - Date.now()) / 1000;
  return [seconds, date].find((wait) => wait > 0);
}

/** The answer's object, when `isRight` of it; refusals are thrown. */
async function open(response, isRight = isObject) {
  const { status, headers } = response;
  const body = await response.json().catch(() => null);
  if (response.ok && isRight(body)) return body;
  if (response.ok) throw new BenchError('bad-answer', 'The answer is not one of the service.', { status });
  const { code = BY_STATUS[status] ?? (status >= 400 && status < 500 ? 'bad-request' : 'bad-answer'),
    message = `The service answered with status ${status} and without an explanation.`, ok, ...details } = isObject(body) ? body : {};
  throw new BenchError(code, message, { status, details, retryAfterSec: secondsOf(details.retryAfterSec ?? headers.get('Retry-After')) });
}

/**
 * `reach` of what only pages of allowed origins may read. To a page of another one the browser says no more than that
 * it failed; where the service answers what everybody may read, and still not this, the origin is why.
 */
async function reachAllowed(url, options) {
  try {
    return await reach(url, options);
  } catch (error) {
    const { origin } = globalThis.location ?? {};
    if (error.code !== 'unreachable' || !origin || origin === url.origin) throw error;
    const open = new URL('key', url);
    if (!await reach(open, { signal: options.signal, timeoutMs: 10_000, cache: 'no-store' }).catch(() => null)) throw error;
    return reach(url, options).catch((cause) => { // it may only have been away for a moment
      throw cause.code !== 'unreachable' ? cause : new BenchError('origin-not-allowed',
        `The service takes no runs from pages of ${origin}. Whoever runs it can add ${origin} to allowed_origins.`, { cause });
    });
  }
}

/** A nonce for one submission; valid for a day. */
export async function fetchNonce({ service = HOME, signal, timeoutMs } = {}) {
  const response = await reachAllowed(new URL('api/bench/nonce', service), { signal, timeoutMs, cache: 'no-store' });
  return (await open(response, (body) => typeof body?.nonce === 'string')).nonce;
}

/** What became of a run: {status, path, commit, url, flags ...}, or null when it is unknown. DIGEST asks for one's own. */
export async function runStatus(runId, { service = HOME, digest: own, signal, timeoutMs } = {}) {
  const url = new URL(`api/bench/runs/${encodeURIComponent(runId)}`, service);
  if (own) url.searchParams.set('digest', own);
  try {
    return await open(await reach(url, { signal, timeoutMs, cache: 'no-store' }),
      (body) => typeof body?.status === 'string' && typeof body.path === 'string');
  } catch (error) {
    if (error.code === 'unknown-run') return null;
    throw error;
  }
}

/** Bytes or a Blob with the headers that go with them: packed when that helps and the browser can. */
async function pack(bytes) {
  const headers = { 'Content-Type': 'application/json' };
  if (bytes.length < WORTH_PACKING || typeof CompressionStream !== 'function') return { body: bytes, headers };
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  return { body: await new Response(packed).blob(), headers: { ...headers, 'Content-Encoding': 'gzip' } };
}

function assertSize(bytes) {
  if (bytes.length > LIMIT_BYTES)
    throw new BenchError('payload-too-large', `The run has ${bytes.length} bytes; ${LIMIT_BYTES} are taken.`);
}

/** SENDS the file to the service's dry run, which stores nothing, and gives its answer, refusals of the file too. */
export async function validateRemotely(file, { service = HOME, signal, reseal = false } = {}) {
  const bytes = await read(file, { service, reseal });
  assertSize(bytes);
  const response = await reach(new URL('api/bench/validate', service), { method: 'POST', signal, ...await pack(bytes) });
  try {
    return await open(response);
  } catch (error) {
    if (![400, 422].includes(error.status)) throw error;
    return { ok: false, code: error.code, message: error.message, ...error.details };
  }
}

// A run is taken back with a code that only its submitter has: the service is told its hash, with the run.
const CODES = 'benchledger-withdraw-codes', CODES_MOST = 500;
const isCode = (code) => typeof code === 'string' && /^[\w-]{43}$/.test(code);

/** The codes that this page's origin keeps, newest last: [{service, runId, code}]. */
export function withdrawCodes() {
  try {
    const kept = JSON.parse(globalThis.localStorage?.getItem(CODES) ?? '[]');
    return Array.isArray(kept) ? kept.filter((row) => typeof row?.runId === 'string' && isCode(row.code)) : [];
  } catch {
    return []; // no storage here, or somebody else's
  }
}

const isOf = (service, runId) => (row) => row.service === service && row.runId === runId;
const keptCode = (service, runId) => withdrawCodes().find(isOf(service, runId))?.code ?? null;

function saveCodes(rows) {
  try {
    localStorage.setItem(CODES, JSON.stringify(rows.slice(-CODES_MOST)));
  } catch {} // no storage here: the result of `submit` has the code
}

/** Keeps a code, and gives the rows that it took the place of. */
function keepCode(service, runId, code) {
  const all = withdrawCodes(), left = all.filter((row) => !isOf(service, runId)(row)).slice(1 - CODES_MOST);
  saveCodes([...left, { service, runId, code }]);
  return all.filter((row) => !left.includes(row));
}

/** Takes a code out that came to nothing, and puts back the rows that it had taken the place of. */
function forgetCode(service, runId, code, replaced) {
  saveCodes([...replaced, ...withdrawCodes().filter((row) => row.code !== code || !isOf(service, runId)(row))]);
}

/**
 * The code that RUNID is to be taken back with: the GIVEN one (null: none), the one that is kept from an earlier try, or
 * a new one. Null where a page is not secure: there is no WebCrypto to hash it with.
 */
function codeFor(service, runId, given) {
  if (given === null || !globalThis.crypto?.subtle) return null;
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return given ?? keptCode(service, runId) ?? btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/**
 * Takes a run off the board, with the CODE that it was submitted with (usual: the one that is kept here). A public git
 * history keeps what was published. Resolves with {path, revision, commit} or {queued: true}.
 */
export async function withdraw(runId, { code, service = HOME, signal, timeoutMs } = {}) {
  const own = code ?? keptCode(service, runId);
  if (!own) throw new BenchError('forbidden', 'No code of this run is kept here.');
  return open(await reachAllowed(new URL('api/bench/withdraw', service), { method: 'POST', signal, timeoutMs,
    headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ runId, code: own }), redirect: 'error' }));
}

const DEFAULTS = {
  service: HOME,
  signal: undefined,
  onProgress: () => {},
  attempts: 8, // that fail without the service saying how long to wait
  backoffMs: 1000, // before the second; doubles, up to half a minute
  maxWaitSec: 900, // all waiting together
  timeoutMs: 120_000, // of one request, the upload included
  wantReceipt: false, // after a lost answer: send once more, because only that answer carries it
  follow: false, // after 202: wait until the run has reached the dataset, or followSec have passed
  followSec: 600,
  reseal: false, // a digest that is there and wrong is replaced instead of refused
  withdrawCode: undefined, // 43 base64url characters that can take the run back; usual: made and kept here; null: none
};
const TAKEN = ['published', 'quarantined', 'queued'];
/** What the service says of a run that it has taken; anything else that comes with a 2xx is somebody else's. */
const isTaken = (body) => body?.ok === true && typeof body.path === 'string'
  && (body.queued === true || /^[0-9a-f]{40,64}$/.test(body.commit));
const WAITS = ['rate-limited', 'busy', 'store-unavailable', 'unreachable', 'bad-answer', 'internal-error'];
const UNSURE = ['unreachable', 'bad-answer', 'internal-error']; // the run may have been stored all the same
/** Whatever was sent before: the run is not stored, and will not be. */
const REFUSED = ['invalid-json', 'invalid-shape', 'digest-mismatch', 'store-declined', 'nonce-used', 'duplicate-run', 'conflict'];

/** One run on its way. What it knows survives a failed try: its nonce, and whether a try may have arrived (`unsure`) or be stored. */
class Submission {
  constructor(run, options) {
    const { service, withdrawCode } = options;
    this.code = codeFor(service, run.runId, withdrawCode);
    this.codeIsOld = this.code !== null && this.code === keptCode(service, run.runId);
    if (this.code) this.replaced = keepCode(service, run.runId, this.code); // before it is sent: the answer may be lost
    Object.assign(this, { run, options, nonce: null, unsure: false, mayBeStored: false, queued: false, recovered: false, sent: 0,
      failures: 0, renewals: 0, waitedMs: 0 });
  }

  /** The run was not stored with this code. One of an earlier submission may have been all the same. */
  forget() {
    if (!this.code || this.codeIsOld) return;
    forgetCode(this.options.service, this.run.runId, this.code, this.replaced);
    this.code = null;
  }

  /** A listener that throws does not change what becomes of the run. */
  tell(stage, more = {}) {
    try {
      this.options.onProgress({ stage, runId: this.run.runId, ...more });
    } catch (error) {
      globalThis.reportError?.(error);
    }
  }

  async go() {
    try {
      for (;;) {
        try {
          return await this.attempt();
        } catch (error) {
          await this.recover(error);
        }
      }
    } catch (error) {
      error.run = this.run;
      if (!this.mayBeStored || REFUSED.includes(error.code)) this.forget();
      if (this.queued) error.details = { ...error.details, queued: true }; // the service had it, as far as is known
      throw error;
    }
  }

  async attempt() {
    if (this.unsure) {
      const found = await this.lookUp();
      if (found) return found;
    }
    if (!this.nonce) {
      this.tell('nonce');
      this.nonce = await fetchNonce(this.options);
    }
    return this.conclude(await this.send());
  }

  async send() {
    const bytes = bytesOf({ ...this.run, nonce: this.nonce });
    assertSize(bytes);
    const { body, headers } = await pack(bytes);
    if (this.code) headers['X-Withdraw-SHA256'] = hex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(this.code)));
    this.sent += 1;
    this.tell('sending', { attempt: this.sent, bytes: body.size ?? body.length });
    const { signal, timeoutMs, service } = this.options;
    const { mayBeStored } = this;
    this.unsure = this.mayBeStored = true; // until there is an answer
    const response = await reach(new URL('api/bench/submit', service), { method: 'POST', body, headers, signal, timeoutMs,
      redirect: 'error' }); // it would become a GET of something else
    try {
      const answer = await open(response, isTaken);
      this.unsure = false;
      return { ...answer, outcome: answer.queued ? 'queued' : answer.flagged ? 'quarantined' : 'published' };
    } catch (error) {
      this.unsure = UNSURE.includes(error.code);
      this.mayBeStored = mayBeStored || this.unsure || error.code === 'store-unavailable'; // it may still land
      if (error.code === 'duplicate-run' && error.details.same) return this.again(error.details);
      throw error;
    }
  }

  /** What KNOWN, a status, comes to: an outcome, or the error that the run ended with. */
  outcomeOf(known) {
    if (TAKEN.includes(known.status)) return known.status;
    throw new BenchError(known.status === 'declined' ? 'store-declined' : known.status,
      `The run is known and was ${known.status}.`, { details: known });
  }

  status() {
    return runStatus(this.run.runId, { ...this.options, digest: this.run.digest });
  }

  /** The service has this very run: its status tells the rest. */
  async again({ path, receipt }) {
    if (!this.mayBeStored) this.forget(); // it was accepted before, with another one or none
    const known = await this.status().catch(() => null) ?? { path, status: path?.startsWith('quarantine/') ? 'quarantined' : 'published' };
    return { ...this.describe(known), outcome: this.outcomeOf(known), duplicate: true, receipt };
  }

  /**
   * After a lost answer. A queued run may not be durable yet: sending it again waits for the same commit. Whoever
   * answers without knowing the run or not (a proxy's page) has not answered.
   */
  async lookUp() {
    this.tell('looking');
    const known = await this.status().catch((error) => {
      if (error.code === 'aborted' || WAITS.includes(error.code)) throw error;
      throw new BenchError('bad-answer', 'The run could not be looked up.', { status: error.status, cause: error });
    });
    this.recovered ||= known !== null;
    this.queued = known?.status === 'queued';
    if (!known || this.queued) return null;
    const outcome = this.outcomeOf(known);
    return this.options.wantReceipt ? null : this.finish({ ...this.describe(known), outcome });
  }

  describe({ path, commit, url, flags, rulesVersion }) {
    return { path, commit, url, flags, rulesVersion, flagged: path?.startsWith('quarantine/') };
  }

  async conclude(answer) {
    if (answer.outcome !== 'queued' || !this.options.follow) return this.finish(answer);
    const { followSec, backoffMs, signal } = this.options;
    const until = Date.now() + followSec * 1000;
    this.tell('queued', { path: answer.path });
    for (let wait = backoffMs; Date.now() < until; wait = Math.min(wait * 2, 10_000)) {
      await pause(Math.min(wait, until - Date.now()), signal);
      const known = await this.status().catch((error) => { if (error.code === 'aborted') throw error; });
      if (!known || known.status === 'queued') continue;
      const outcome = this.outcomeOf(known);
      return this.finish({ ...answer, ...this.describe(known), outcome, queued: false });
    }
    return this.finish(answer);
  }

  finish(answer) {
    const { runId, digest: own } = this.run;
    const result = { ...answer, ok: true, runId, digest: own, recovered: this.recovered, sent: this.sent,
      withdrawCode: this.code, page: new URL(`run/${encodeURIComponent(runId)}`, this.options.service).href };
    this.tell('done', { outcome: result.outcome });
    return result;
  }

  /** Waits where another try may help, else fails for good. */
  async recover(error) {
    const { options } = this;
    if (error.code === 'invalid-nonce' && this.renewals < 2) {
      this.renewals += 1; // it expired while the page was open
      this.nonce = null;
      return;
    }
    const asked = error.retryAfterSec === undefined ? null : Math.max(error.retryAfterSec * 1000, options.backoffMs);
    if (asked === null) this.failures += 1;
    const ms = asked ?? Math.min(options.backoffMs * 2 ** (this.failures - 1), 30_000) * (0.75 + Math.random() / 2);
    if (!WAITS.includes(error.code) || this.failures >= options.attempts
      || this.waitedMs + ms > options.maxWaitSec * 1000) throw error;
    this.waitedMs += ms;
    this.tell('waiting', { seconds: Math.round(ms / 1000), code: error.code });
    await pause(ms, options.signal);
  }
}

/**
 * Hands RUN in: fetches a nonce, seals, sends, waits where the service asks for it, and never stores it twice.
 * OPTIONS: see DEFAULTS; `onProgress` gets {stage: nonce | sending | waiting | looking | queued | done, ...}.
 * Resolves with {outcome: published | quarantined | queued, runId, digest, path, url, commit, flagged, flags, receipt,
 * page, recovered, duplicate, withdrawCode}. A queued run is safe; it reaches the dataset later.
 */
export async function submit(run, options = {}) {
  const settings = { ...DEFAULTS, ...options };
  const code = settings.withdrawCode ?? null;
  if (code !== null && !isCode(code)) throw new BenchError('bad-request', 'A withdrawCode is 43 characters of A-Z, a-z, 0-9, - and _.');
  const sealed = await seal(run, settings);
  assertSize(bytesOf(sealed));
  return new Submission(sealed, settings).go();
}

/** A copy of RUN without a nonce, with its digest. */
async function seal(run, { service, reseal }) {
  const { nonce, ...plain } = copy(run);
  const own = await digest(plain, { service });
  if (plain.digest !== undefined && plain.digest !== own && !reseal)
    throw new BenchError('digest-mismatch', 'The digest is not that of the run.', { details: { computed: own } });
  return { ...plain, digest: own };
}

/** RUN sealed with its digest as a file: saved by the browser where there is a page, and given back as a Blob. */
export async function exportRun(run, { service = HOME, filename, reseal = false } = {}) {
  const plain = await seal(run, { service, reseal });
  const file = new Blob([JSON.stringify(plain)], { type: 'application/json' });
  if (typeof document === 'undefined') return file;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = filename ?? `${String(plain.runId ?? 'run').replace(/[^\w-]/g, '_')}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return file;
}
