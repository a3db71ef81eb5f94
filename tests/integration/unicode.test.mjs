// Lower-casing and white space are JavaScript's (spec 01), over all of Unicode: seen in the device class,
// which is the lower-cased platform with its white space as `-`.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { Folder, run } from '../support/checker.mjs';
import { Random } from '../support/prng.mjs';
import { makeRun, seal } from '../support/run.mjs';

const folder = new Folder();
after(() => folder.close());
let datasets = 0;

/** The device classes that the index gives to PLATFORMS, in order. */
function classesOf(platforms) {
  const dataset = path.join(folder.path, `dataset-${datasets++}`);
  mkdirSync(path.join(dataset, 'runs/2026/01'), { recursive: true });
  for (const [i, platform] of platforms.entries()) {
    const made = makeRun({ id: `unicode-run-${String(i).padStart(5, '0')}`, cells: ['skipped'], platform });
    writeFileSync(path.join(dataset, `runs/2026/01/${made.runId}.json`), JSON.stringify(seal(made)));
  }
  const { status, stderr } = run(['index', dataset]);
  assert.equal(status, 0, stderr);
  return JSON.parse(readFileSync(path.join(dataset, 'index/summary.json'), 'utf8')).map(({ deviceClass }) =>
    deviceClass);
}

const classOf = (platform) => `${platform.toLowerCase().replace(/\s+/g, '-')}/nvidia-ampere`;

function compare(platforms) {
  const found = classesOf(platforms);
  assert.equal(found.length, platforms.length);
  for (const [i, platform] of platforms.entries()) assert.equal(found[i], classOf(platform),
    JSON.stringify(platform));
}

const inGroups = (units, size) => Array.from({ length: Math.ceil(units.length / size) },
  (_, i) => units.slice(i * size, (i + 1) * size));

test('every character that has a case, a white space or neither is lower-cased alike', (t) => {
  const special = /[\p{Changes_When_Lowercased}\p{Changes_When_Uppercased}\s\p{Cf}\p{Zs}]/u;
  const chosen = [];
  for (let code = 1; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const letter = String.fromCodePoint(code);
    if (special.test(letter) || (code < 0x3000 && code % 7 === 0) || code % 997 === 0) chosen.push(letter);
  }
  t.diagnostic(`${chosen.length} characters`);
  compare(inGroups(chosen, 25).map((letters) => letters.map((letter) => `x${letter}y`).join('z')));
});

test('a sigma is a final one exactly where JavaScript says so', () => {
  const random = new Random(5);
  const letters = ['\u03a3', '\u03a3', '\u03a3', 'A', 'a', '\u0391', '1', ' ', '.', ',', "'", '\u2019', ':',
    '\u00ad', '\u0301', '\u0345', '\u00b7', '\u02b0', '\u200d', '-', '\u{1D400}', '\u{1F600}', '\ud83d', '\u00e9',
    '\u05d0'];
  compare(Array.from({ length: 400 }, () => Array.from({ length: 1 + random.below(60) },
    () => random.pick(letters)).join('')));
  compare(['\u03a3', 'A\u03a3', 'A\u03a3.', 'A.\u03a3', 'A.\u03a3.B', '\u03a3A', 'A\u03a3\u03a3',
    `A${'\u0301'.repeat(150)}\u03a3`, `A\u03a3${'\u0301'.repeat(150)}`, `A\u03a3${'\u0301'.repeat(150)}B`]);
});

test('white-space runs are JavaScript\'s', () => {
  const random = new Random(6);
  const letters = ['\t', '\n', '\v', '\f', '\r', ' ', '\u0085', '\u00a0', '\u1680', '\u180e', '\u2000', '\u200a',
    '\u200b', '\u2028', '\u2029', '\u202f', '\u205f', '\u2060', '\u3000', '\ufeff', 'a', '\0', '\u001c', '\u001f'];
  compare(Array.from({ length: 200 }, () => Array.from({ length: 1 + random.below(40) },
    () => random.pick(letters)).join('')));
});
