// Compares the offline commands of the binary with the baseline over mutated files.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { checkBytes, entryOf, readJson, scrub } from '../bench/baseline.mjs';
import { Folder, lines, run } from './checker.mjs';
import { mutatedFile } from './mutate.mjs';
import { Random } from './prng.mjs';

const BATCH = 100;
// Pointers on which the binary is stricter than the specification asks, so that it may be either.
const STRICTER = /^\/clientSummaries\/\d+\/(generatedChars|decodeChunksPerSec|prefillTokPerSecApprox)\b/;

/**
 * The set of pointers: one may be told for several reasons. Without usable cells the client summaries may be
 * left unread: the file is refused all the same.
 */
function paths(errors) {
  const found = new Set(errors.map(({ path }) => path));
  return [...found].filter((path) =>
    !(found.has('/cells') && path.startsWith('/clientSummaries'))).sort().join('\n');
}

/** The line the binary must print, given the wording (and evidence) it chose. */
function expectedLine(expected, found) {
  if (expected.error !== undefined) return JSON.stringify({ ...expected, error: found.error });
  if (found.shapeErrors
    && (expected.shapeErrors.length === 50 ? found.shapeErrors.length === 50 : paths(expected.shapeErrors) === paths(found.shapeErrors)))
    expected.shapeErrors = found.shapeErrors;
  expected.flags.forEach((flag, i) => {
    flag.message = found.flags?.[i]?.message;
    flag.evidence = found.flags?.[i]?.evidence;
  });
  return JSON.stringify(expected);
}

const text = (file) => readFileSync(file, 'utf8');

function compareEntry({ file, bytes, verdict }, differ) {
  const expected = JSON.stringify(entryOf(readJson(bytes), verdict));
  const found = text(`${file}.entry`);
  if (found !== expected) differ('entry', expected, found);
}

function compareScrub({ file, bytes }, differ) {
  const found = text(`${file}.scrub`);
  const published = readJson(bytes);
  let scrubbedAt = null;
  try {
    ({ scrubbedAt } = JSON.parse(found)); // the clock is the binary's
  } catch { /* told below */ }
  scrub(published, scrubbedAt);
  const expected = JSON.stringify(published);
  if (found !== expected) differ('scrub', expected, found);
}

/** entry and scrub of many files; one shell starts them, which is faster than node doing it. */
function publish(files) {
  const script = 'binary=$1; shift; for file; do for command in entry scrub; do "$binary" $command "$file" >"$file.$command" 2>/dev/null || echo "exit $?" >>"$file.$command"; done; done';
  const { status, stderr } = spawnSync('sh', ['-c', script, 'sh', process.env.BENCHLEDGER_BINARY, ...files]);
  if (status !== 0) throw new Error(`entry and scrub: ${stderr}`);
}

/** Where two texts part, with some of what surrounds it. */
export function parting(expected, found) {
  let at = 0;
  while (at < expected.length && expected[at] === found[at]) at++;
  const from = Math.max(0, at - 80);
  return `at ${at}\n  expected ...${expected.slice(from, at + 120)}\n  found    ...${found.slice(from, at + 120)}`;
}

function outcome({ error, shapeErrors, flags }) {
  if (error !== undefined) return 'unreadable';
  if (shapeErrors.length > 0) return 'refused';
  return flags.length > 0 ? 'flagged' : 'publishable';
}

/**
 * Tries COUNT mutated files: {files, unreadable, refused, flagged, publishable, disputed, differences}, a difference
 * being {command, bytes, expected, found}.
 */
export function tryFiles(count, seed, originals = [], progress = () => {}) {
  const random = new Random(seed);
  const tally = { files: 0, unreadable: 0, refused: 0, flagged: 0, publishable: 0, disputed: 0, differences: [] };
  while (tally.files < count) {
    const folder = new Folder();
    try {
      const batch = Array.from({ length: Math.min(BATCH, count - tally.files) }, (_, i) => {
        const bytes = mutatedFile(random, originals);
        return { bytes, file: folder.write(`${i}.json`, bytes) };
      });
      const output = lines(run(['check', '--json', '--any-protocol', ...batch.map(({ file }) => file)]).stdout);
      if (output.length !== batch.length) throw new Error(`${output.length} lines for ${batch.length} files`);
      for (const [i, one] of batch.entries()) {
        const found = JSON.parse(output[i]);
        one.verdict = checkBytes(one.file, one.bytes);
        one.disputed = found.shapeErrors?.some(({ path }) => STRICTER.test(path));
        if (one.disputed) continue;
        const expected = expectedLine(structuredClone(one.verdict), found);
        if (output[i] !== expected) tally.differences.push({ command: 'check', bytes: one.bytes, expected,
          found: output[i] });
      }
      const sound = batch.filter(({ verdict, disputed }) => verdict.shapeErrors?.length === 0 && !disputed);
      publish(sound.map(({ file }) => file));
      for (const one of sound) {
        const differ = (command, expected, found) => tally.differences.push({ command, bytes: one.bytes, expected,
          found });
        compareEntry(one, differ);
        compareScrub(one, differ);
      }
      tally.files += batch.length;
      for (const { verdict, disputed } of batch) tally[disputed ? 'disputed' : outcome(verdict)] += 1;
    } finally {
      folder.close();
    }
    progress(tally);
  }
  return tally;
}
