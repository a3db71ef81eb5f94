// Random JSON texts, sound and broken, read by the binary and by Node: the same must be refused, and what
// is read must print alike.
import { canonical, DEPTH_MAX } from '../bench/baseline.mjs';
import { check, Folder, run } from './checker.mjs';
import { Random } from './prng.mjs';

const KEYS = ['a', 'b', '', '0', '1', '9', '10', '4294967294', '4294967295', '01', '-1', '__proto__', '\\u0061',
  '\\u0000', '\\ud83d', '\\ude00', '\\ud83d\\ude00', '\u{1F600}', '\ue000', '\uffff', '\u00e9', '\\"', '\\\\',
  '\\/', 'x'.repeat(40), '\u2028', '\u007f'];
const STRINGS = [...KEYS, '\\n', '\\u001F', '\\uD800x', 'plain text', '\\b\\f\\r\\t'];
const NUMBERS = ['0', '-0', '1', '-1', '0.5', '1e5', '1E+5', '1e-7', '1e21', '123456789012345678',
  '9007199254740993', '72658.61999998987', '5e-324', '1e-400', '0.1e1', '1.0', '100', '1.7976931348623157e308'];
const WORDS = ['true', 'false', 'null'];
const SPACES = ['', '', '', '', ' ', '\n', '\t', '\r', '  '];
const JUNK = ['"', '\\', '{', '}', '[', ']', ',', ':', '-', '+', '.', 'e', '0', '1', '\\u', '\\ud83d', '\0',
  '\x1f', '\u00a0', '\ufeff', '\u2028', '/', '//', 'true', 'nul', 'NaN', '1e400', '-1e999', '\\x', "'", '00', '1.',
  '.5'];
const BYTES = [0x80, 0xbf, 0xc0, 0xc1, 0xc3, 0xe0, 0xe2, 0xed, 0xa0, 0xef, 0xbb, 0xf0, 0xf4, 0x90, 0xf5, 0xff,
  0x00];

function value(random, depth) {
  const dice = random.below(depth > 5 ? 6 : 10);
  const space = () => random.pick(SPACES);
  if (dice < 3) return random.pick(NUMBERS);
  if (dice < 5) return `"${random.pick(STRINGS)}${random.pick(STRINGS)}"`;
  if (dice < 6) return random.pick(WORDS);
  const items = Array.from({ length: random.below(7) }, () => {
    const item = `${space()}${value(random, depth + 1)}${space()}`;
    return dice < 8 ? item : `${space()}"${random.pick(KEYS)}"${space()}:${item}`;
  });
  return dice < 8 ? `[${items.join(',')}]` : `{${items.join(',')}}`;
}

function randomBytes(random) {
  let text = `{"a":${value(random, 0)}}`;
  for (let n = random.below(3); n > 0; n--) {
    const at = random.below(text.length + 1);
    text = text.slice(0, at) + random.pick(JUNK) + text.slice(at + random.below(3));
  }
  if (random.chance(0.05)) text = `{"a":${'['.repeat(random.below(4) + DEPTH_MAX - 3)}${']'.repeat(random.below(3) + DEPTH_MAX - 2)}}`;
  const bytes = Buffer.from(text);
  if (random.chance(0.1)) bytes[random.below(bytes.length)] = random.pick(BYTES);
  return bytes;
}

/** The value by Node, undefined when Node or a limit of the specification refuses it. */
function byNode(bytes) {
  let text, read;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{\]}]|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g)) { // also what a later key replaces
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    else if (token[0] !== '"' && !Number.isFinite(Number(token))) return undefined;
    if (depth > DEPTH_MAX) return undefined;
  }
  return read;
}

/** Canonical and printed form of many objects by the binary, one process each way. */
function printed(texts, folder) {
  const file = folder.write('all.json', Buffer.concat([Buffer.from('{"a":['),
    ...texts.flatMap((text, i) => (i > 0 ? [Buffer.from(','), text] : [text])), Buffer.from(']}')]));
  return ['digest --canonical', 'scrub'].map((command) => run([...command.split(' '), file]).stdout.toString());
}

/** Tries COUNT texts: {texts, refused, differences: [{what, text}]}. */
export function tryTexts(count, seed, progress = () => {}) {
  const random = new Random(seed);
  const tally = { texts: 0, refused: 0, differences: [] };
  while (tally.texts < count) {
    const batch = Array.from({ length: Math.min(500, count - tally.texts) }, () => randomBytes(random));
    const { verdicts } = check(batch);
    const sound = [];
    for (const [i, bytes] of batch.entries()) {
      const read = byNode(bytes);
      const refused = verdicts[i].error !== undefined;
      tally.refused += refused ? 1 : 0;
      if (refused !== (read === undefined)) tally.differences.push({ what: refused ? 'only the binary refuses' : 'only Node refuses', text: bytes.toString() });
      else if (!refused && !(JSON.stringify(read).match(/\[/g)?.length >= DEPTH_MAX - 2)) sound.push({ bytes,
        read });
    }
    const folder = new Folder();
    try {
      const [canonicals, prints] = printed(sound.map(({ bytes }) =>
        (bytes.subarray(0, 3).equals(Buffer.from('\ufeff')) ? bytes.subarray(3) : bytes)), folder);
      const values = { a: sound.map(({ read }) => read) };
      if (canonicals !== canonical(values)) tally.differences.push({ what: 'canonical form',
        text: sound.map(({ bytes }) => bytes.toString()).join('\n') });
      if (prints !== JSON.stringify(values)) tally.differences.push({ what: 'printed form',
        text: sound.map(({ bytes }) => bytes.toString()).join('\n') });
    } finally {
      folder.close();
    }
    tally.texts += batch.length;
    progress(tally);
  }
  return tally;
}
