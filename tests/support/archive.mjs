// Makes a bare repository with many runs, complete with ledger and index, as fast as git can import it.
//
//   node tests/support/archive.mjs FOLDER RUNS [RUN-BYTES [ENTRY-BYTES [SUMMARY-LIMIT [CHUNKS]]]]
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { entry as entryOf, recompute } from '../bench/baseline.mjs';
import { Random } from './prng.mjs';
import { canonical, makeRun, seal, sha256 } from './run.mjs';

const SEGMENT_BYTES = 1_000_000;
const FIRST = Date.parse('2026-01-02T00:00:00Z');
const LAST = Date.parse('2026-11-20T00:00:00Z');
const iso = (ms) => new Date(Math.round(ms)).toISOString();
const NOISE = Array.from({ length: 1 << 16 }, (_, i) => sha256(String(i)).slice(0, 4)).join('');

/** Arrays of entries that are closed by size, as index/segments are (spec 03). */
class Segments {
  constructor() {
    this.closed = [];
    this.open = [];
    this.bytes = 1;
  }

  /** Whether JSON begins a segment. */
  add(json) {
    const size = Buffer.byteLength(json) + 1;
    const begins = this.bytes + size > SEGMENT_BYTES || this.bytes === 1;
    if (begins && this.open.length > 0) {
      this.closed.push(this.open);
      this.open = [];
      this.bytes = 1;
    }
    this.open.push(json);
    this.bytes += size;
    return begins;
  }

  * files() {
    for (const [i, entries] of [...this.closed, this.open].entries())
      yield { path: `index/segments/${String(i + 1).padStart(5, '0')}.json`, entries: entries.length,
        text: `[${entries.join(',')}]` };
  }
}

/** The summary reaches as far as it did when it last was below its limit. */
class Summary {
  constructor(limit) {
    Object.assign(this, { limit, entries: [], bytes: 0, complete: true });
  }

  add(json) {
    const size = Buffer.byteLength(json) + 1;
    this.complete &&= this.bytes + size + 1 <= this.limit;
    if (!this.complete) return;
    this.bytes += size;
    this.entries.push(json);
  }
}

/** A git fast-import that is given commits. */
class Import {
  constructor(repository) {
    this.child = spawn('git', ['--git-dir', repository, '-c', 'core.fsyncMethod=batch', 'fast-import', '--quiet'],
      { stdio: ['pipe', 'inherit', 'inherit'] });
    this.closed = once(this.child, 'close');
  }

  async write(...parts) {
    for (const part of parts)
      if (!this.child.stdin.write(part)) await once(this.child.stdin, 'drain');
  }

  data(text) {
    return this.write(`data ${Buffer.byteLength(text)}\n`, text, '\n');
  }

  /** Begins a commit on top of the last one. */
  async commit(message) {
    await this.write('commit refs/heads/main\ncommitter maker <maker@example.org> 1767225600 +0000\n');
    await this.data(message);
  }

  async file(path, text) {
    await this.write(`M 100644 inline ${path}\n`);
    await this.data(text);
  }

  async end() {
    this.child.stdin.end('done\n');
    const [code] = await this.closed;
    if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  }
}

const range = (random, size) => (Array.isArray(size) ? size[0] + random.below(size[1] - size[0] + 1) : size);

/** Run number I as it is published: {run, entry, flagged}. */
function publishedRun(random, i, createdAt, { runBytes, entryBytes, chunks }) {
  const made = makeRun({ id: `archive-run-${String(i).padStart(6, '0')}`, seed: i, createdAt, iterations: 3,
    gpuModel: `NVIDIA GeForce RTX ${3000 + i % 40}`, ...(chunks ? { chunks } : { cells: ['embed-single'] }) });
  const noise = (size) => NOISE.substr(random.below(NOISE.length - size), size);
  for (let left = entryBytes - 1150, n = 0; left > 0 && n < 60; left -= 220, n++)
    made.harness.runtimeVersions[`package-${n}`] = noise(Math.min(200, left));
  const missing = range(random, runBytes) - JSON.stringify(made).length - 90;
  if (missing > 0) made.padding = NOISE.repeat(Math.ceil(missing / NOISE.length)).slice(0, missing);
  const flagged = i % 50 === 49;
  if (flagged && chunks) made.cells[0].iterations[0].text += '!';
  const run = seal(made, undefined);
  return { text: JSON.stringify(run), digest: run.digest, flagged, entry: entryOf(run, recompute(run), flagged) };
}

function ledgerLine(seq, prev, at, { digest, entry: { runId, path }, flagged }) {
  return canonical({ seq, prev, at, event: 'accept', runId, path, digest, submittedDigest: digest, rules: 2,
    flags: flagged ? ['text-chunk-mismatch'] : [], nonceSha256: sha256(`nonce of ${runId}`) });
}

/**
 * Makes a bare repository at REPOSITORY with RUNS runs on branch main. runBytes, entryBytes: sizes, of the run
 * a number or [least, most]; never below what a run has. summaryLimit: as the service's; Infinity: the summary
 * is whole. freshSegment: runs are added until the last one begins an index segment. chunks: of each stream;
 * runs then have the usual cells (700 chunks make 62 KB), and every 50th is rightly flagged. publish: makes run number i
 * instead, {text, digest, flagged, entry}, without TEXT no file of it. Gives {runs, segments}.
 */
export async function makeArchive(repository, runs, { runBytes = 0, entryBytes = 0, summaryLimit = 20_000_000,
  freshSegment = false, chunks = 0, publish = publishedRun } = {}) {
  execFileSync('git', ['init', '--quiet', '--bare', '--template=', '-b', 'main', repository]);
  const random = new Random(1);
  const feed = new Import(repository);
  const segments = new Segments();
  const summary = new Summary(summaryLimit);
  const days = new Map();
  let prev = '0'.repeat(64), flagged = 0, i = 0;
  await feed.write('feature done\n');
  await feed.commit('bench: begin the dataset');
  await feed.file('README.md', '# Benchmark dataset\n');
  await feed.commit(`bench: add ${runs} runs`);
  for (let begins = false; i < runs || (freshSegment && !begins); i++) {
    const at = FIRST + Math.min(1, i / runs) * (LAST - FIRST);
    const one = publish(random, i, iso(at), { runBytes, entryBytes, chunks });
    if (one.text) await feed.file(one.entry.path, one.text);
    const json = JSON.stringify(one.entry);
    begins = segments.add(json);
    summary.add(json);
    flagged += one.flagged ? 1 : 0;
    const accepted = iso(at + 60_000);
    const line = ledgerLine(i + 1, prev, accepted, one);
    prev = sha256(line);
    const day = accepted.slice(0, 10);
    days.set(day, [...(days.get(day) ?? []), line]);
  }
  for (const [day, lines] of days) await feed.file(`ledger/${day}.jsonl`, `${lines.join('\n')}\n`);
  const rows = [];
  for (const { path, entries, text } of segments.files()) {
    await feed.file(path, text);
    rows.push({ path, entries, bytes: Buffer.byteLength(text), sha256: sha256(text) });
  }
  await feed.file('index/summary.json', `[${summary.entries.join(',')}]`);
  await feed.file('index/manifest.json', JSON.stringify({ version: 1, segments: rows, entries: i, flagged,
    summaryComplete: summary.complete, summaryEntries: summary.entries.length }));
  await feed.end();
  return { runs: i, segments: rows.length };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder, runs, runBytes = 0, entryBytes = 0, summaryLimit = 20_000_000, chunks = 0] = process.argv.slice(2);
  if (!(Number(runs) > 0)) {
    console.error('usage: node tests/support/archive.mjs FOLDER RUNS [RUN-BYTES [ENTRY-BYTES [SUMMARY-LIMIT [CHUNKS]]]]');
    process.exit(64);
  }
  console.log(await makeArchive(folder, Number(runs), { runBytes: Number(runBytes), entryBytes: Number(entryBytes),
    summaryLimit: Number(summaryLimit), chunks: Number(chunks) }));
}
