// Numbers as texts, read and printed by the binary and by Node: equal or not.
import { Folder, run } from './checker.mjs';
import { Random } from './prng.mjs';

const view = new DataView(new ArrayBuffer(8));
const toBits = (x) => (view.setFloat64(0, x), view.getBigUint64(0));
const fromBits = (bits) => (view.setBigUint64(0, bits), view.getFloat64(0));

const neighbours = (x) => [-1n, 0n, 1n].map((step) => fromBits(toBits(x) + step)).filter(Number.isFinite);

/** The exact decimal text of the point halfway between a positive double and its successor. */
function halfway(x) {
  const bits = toBits(x);
  const exponent = Number(bits >> 52n);
  const fraction = bits & 0xfffffffffffffn;
  const twice = 2n * (exponent === 0 ? fraction : fraction | 0x10000000000000n) + 1n;
  const power = Math.max(exponent, 1) - 1076;
  return power >= 0 ? `${twice << BigInt(power)}` : `${twice * 5n ** BigInt(-power)}e${power}`;
}

/** All powers of two and ten, their neighbours, and both signs of them. */
export function * landmarks() {
  for (let power = -1074; power <= 1023; power++) for (const x of neighbours(2 ** power)) yield x, yield -x;
  for (let power = -323; power <= 308; power++) for (const x of neighbours(Number(`1e${power}`))) yield x, yield -x;
  for (const x of [0, -0, Number.MAX_VALUE, Number.MIN_VALUE, 2.2250738585072014e-308, 2 ** 53, 2 ** 63,
    2 ** 64]) for (const y of neighbours(x === 0 ? 5e-324 : x)) yield y, yield -y;
}

function bitPattern(random) {
  for (;;) {
    const x = fromBits((BigInt(random.bits()) << 32n) | BigInt(random.bits()));
    if (Number.isFinite(x)) return x;
  }
}

const digits = (random, n) => Array.from({ length: n }, () => random.below(10)).join('');
const leading = (random, n) => `${1 + random.below(9)}${digits(random, n - 1)}`;

/** Texts of numbers as other printers and other programs would write them. */
const FORMS = [
  (random) => String(bitPattern(random)),
  (random) => String(bitPattern(random)),
  (random) => String(bitPattern(random)),
  (random) => bitPattern(random).toPrecision(17),
  (random) => bitPattern(random).toExponential(random.below(25)).replace('e', random.pick(['e', 'E'])),
  (random) => bitPattern(random).toPrecision(1 + random.below(30)),
  (random) => `${leading(random, 1 + random.below(7))}.${digits(random, 1 + random.below(16))}`,
  (random) => `0.${'0'.repeat(random.below(12))}${digits(random, 1 + random.below(20))}`,
  (random) => leading(random, 1 + random.below(25)),
  (random) => `${leading(random, 1 + random.below(19))}e${random.below(330) - 345 + random.below(330)}`,
  (random) =>
    `${leading(random, 15 + random.below(5))}.${digits(random, 1 + random.below(5))}E+${random.below(20)}`,
  (random) => String(random.below(4294967296) / random.pick([8, 10, 100, 1000, 3, 7])),
];

export function randomText(random, index) {
  if (index % 400 === 0) { // digits that decide at the very end: halfway between two doubles, or a hair beside it
    const exact = halfway(Math.abs(bitPattern(random)) / 2);
    const [mantissa, exponent = '0'] = exact.split('e');
    return random.pick([exact, `${mantissa}${'0'.repeat(30)}1e${Number(exponent) - 31}`,
      `${BigInt(mantissa) * 10n - 1n}e${Number(exponent) - 1}`]);
  }
  const text = random.pick(FORMS)(random);
  return Number.isFinite(Number(text)) ? text : '0';
}

/** Reads and prints TEXTS by the binary; the texts that come out other than Node prints them. */
export function differing(texts, folder) {
  const file = folder.write('numbers.json', `{"a":[${texts.join(',')}]}`);
  const { status, stdout, stderr } = run(['digest', '--canonical', file]);
  if (status !== 0) throw new Error(stderr);
  const printed = stdout.toString();
  const expected = texts.map((text) => JSON.stringify(Number(text)));
  if (printed === `{"a":[${expected.join(',')}]}`) return [];
  const found = printed.slice('{"a":['.length, -2).split(',');
  return texts.flatMap((text, i) => (found[i] === expected[i] ? [] : [{ text, found: found[i],
    expected: expected[i] }]));
}

/** Tries COUNT random numbers in batches; calls PROGRESS(done, wrong) after each. */
export function tryRandom(count, seed, progress = () => {}) {
  const random = new Random(seed);
  const folder = new Folder();
  const wrong = [];
  try {
    for (let done = 0; done < count;) {
      const size = Math.min(100_000, count - done);
      const texts = Array.from({ length: size }, (_, i) => randomText(random, i));
      wrong.push(...differing(texts, folder));
      done += size;
      progress(done, wrong.length);
    }
  } finally {
    folder.close();
  }
  return wrong;
}
