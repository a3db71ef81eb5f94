// Reads a dataset of any size by its manifest: from a service, or from any host of the repository's raw files. Nothing is
// believed that is not what the manifest says, to the hash. No dependencies; every export stands alone.
//
//   import { entries } from 'https://bench.example.org/dataset.js';
//   for await (const entry of entries({ base: 'https://raw.example.org/owner/name/main/' })) console.log(entry.runId);
//
// Every failure is a DatasetError with a stable `code`: unreachable, not-found, bad-status, broken (what is there is not what
// the manifest says), changed (it became another dataset while it was read: begin again), unsupported, aborted and
// no-crypto (the page is not in a secure context).

/** Where this module came from, also as the copy in /assets/. */
const HOME = new URL('.', import.meta.url).href.replace(/\/assets\/$/, '/');
const MANIFEST = 'index/manifest.json', SUMMARY = 'index/summary.json', LEADERBOARD = 'index/leaderboard.json';
const SEGMENT_PATH = /^index\/segments\/\d{5,9}\.json$/;
const SEGMENT_MOST = 8 << 20, SEGMENTS_MOST = 1e6; // bytes; what a dataset never reaches
const TRIES = 5;

export class DatasetError extends Error {
  name = 'DatasetError';

  constructor(code, message, options) {
    super(message, options);
    this.code = code;
  }
}

/** The bytes of a file; null when there is none. FRESH: past every cache in between. */
async function load(path, { base = HOME, signal, timeoutMs = 60_000 }, fresh = false) {
  const end = new AbortController();
  const stop = () => end.abort(signal.reason);
  const late = setTimeout(() => end.abort(), timeoutMs);
  signal?.addEventListener('abort', stop);
  try {
    if (signal?.aborted) stop();
    const response = await fetch(new URL(path, String(base).replace(/\/?$/, '/')), { cache: fresh ? 'reload' : 'no-cache', signal: end.signal });
    const bytes = await response.arrayBuffer();
    if (response.ok) return bytes;
    if (response.status === 404 || response.status === 410) return null;
    throw new DatasetError('bad-status', `${path}: answered with status ${response.status}`);
  } catch (cause) {
    if (cause instanceof DatasetError) throw cause;
    if (signal?.aborted) throw new DatasetError('aborted', 'It was stopped.', { cause: signal.reason });
    throw new DatasetError('unreachable', `${path} cannot be read.`, { cause });
  } finally {
    clearTimeout(late);
    signal?.removeEventListener('abort', stop);
  }
}

function parse(path, bytes) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new DatasetError('broken', `${path} is not JSON.`, { cause });
  }
}

async function sha256(bytes) {
  const { subtle } = globalThis.crypto ?? {};
  if (!subtle) throw new DatasetError('no-crypto', 'Segments can only be verified in a secure context (https).');
  return Array.from(new Uint8Array(await subtle.digest('SHA-256', bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const isCount = (value, most) => Number.isInteger(value) && value >= 0 && value <= most;
const isSegment = (row) => SEGMENT_PATH.test(row?.path) && isCount(row.entries, SEGMENT_MOST) && isCount(row.bytes, SEGMENT_MOST) &&
  /^[0-9a-f]{64}$/.test(row.sha256);

/** {version, segments: [{path, entries, bytes, sha256}], entries, flagged, …}, or null where a dataset has none. */
export async function manifest(options = {}, fresh = false) {
  const bytes = await load(MANIFEST, options, fresh);
  if (!bytes) return null;
  const read = parse(MANIFEST, bytes);
  if (read?.version !== 1) throw new DatasetError('unsupported', `${MANIFEST} is not of version 1.`);
  if (!Array.isArray(read.segments) || read.segments.length > SEGMENTS_MOST || !read.segments.every(isSegment))
    throw new DatasetError('broken', `${MANIFEST} does not list segments as it should.`);
  return read;
}

/** The entries of one segment, or null when what is there is another one. */
async function segment(row, options, fresh) {
  const bytes = await load(row.path, options, fresh);
  if (bytes?.byteLength !== row.bytes || await sha256(bytes) !== row.sha256) return null;
  const list = parse(row.path, bytes);
  if (!Array.isArray(list) || list.length !== row.entries) throw new DatasetError('broken', `${row.path} does not hold ${row.entries} entries.`);
  return list;
}

/** The manifest after something else was found than BEFORE says; what has been told, the first DONE segments, must be in it. */
async function renew(before, done, options) {
  const now = await manifest(options, true);
  const isSame = (row, i) => row.sha256 === now.segments[i]?.sha256;
  if (!now || !before.segments.slice(0, done).every(isSame)) throw new DatasetError('changed', 'The dataset became another one while it was read.');
  return now;
}

/** An archive from before there were segments. */
async function summary(options) {
  const bytes = await load(SUMMARY, options);
  if (!bytes) throw new DatasetError('not-found', `There is neither ${MANIFEST} nor ${SUMMARY}.`);
  const list = parse(SUMMARY, bytes);
  if (!Array.isArray(list)) throw new DatasetError('broken', `${SUMMARY} is not an array.`);
  return list;
}

/**
 * Yields the index entries in order of acceptance; flagged ones, too. `base`: the address of the dataset's root (the service
 * that this module came from), `parallel`: segments that are on their way at once, `signal`, `timeoutMs` of one request. Runs that come
 * meanwhile may be among them; where one that has been told is changed or goes, it ends with `changed`.
 */
export async function* entries({ parallel = 4, ...options } = {}) {
  let told = await manifest(options);
  if (!told) {
    yield* await summary(options);
    return;
  }
  let ahead = [], tries = 0; // promises of the segments from I on
  for (let i = 0; i < told.segments.length;) {
    for (let next = i + ahead.length; ahead.length < Math.max(1, parallel) && next < told.segments.length; next++) {
      const coming = segment(told.segments[next], options, tries > 0);
      coming.catch(() => {}); // heard of when its turn comes
      ahead.push(coming);
    }
    const list = await ahead.shift();
    if (list) {
      yield* list;
      i++;
      tries = 0;
      continue;
    }
    if (++tries > TRIES) throw new DatasetError('broken', `${told.segments[i].path} is not what ${MANIFEST} says.`);
    ahead = [];
    told = await renew(told, i, options);
  }
}

/** All of them in an array, read again from the start where they changed. */
export async function allEntries(options = {}) {
  for (let tries = 0; ; tries++) {
    try {
      const list = [];
      for await (const entry of entries(options)) list.push(entry);
      return list;
    } catch (error) {
      if (error.code !== 'changed' || tries >= TRIES) throw error;
    }
  }
}

/** {version, entries, runs, protocols, provisionalBy, rows}: the whole board as of the last refresh. */
export async function leaderboard(options = {}) {
  const bytes = await load(LEADERBOARD, options);
  if (!bytes) throw new DatasetError('not-found', `There is no ${LEADERBOARD} yet.`);
  return parse(LEADERBOARD, bytes);
}
