// Parsing a multiple-choice answer (spec 02), seen through quality-details-mismatch. The expected answers
// stand here as letters, decided by reading the specification, not by running anything.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseAnswer, sha256 } from '../bench/baseline.mjs';
import { check, Folder } from '../support/checker.mjs';
import { makeRun, seal } from '../support/run.mjs';

const folder = new Folder();
after(() => folder.close());

/** A key of four items, right answers A to D, all with the same choices. */
function keyOf(choices) {
  const known = choices.map((text) => ({ len: text.toLowerCase().length, sha256: sha256(text.toLowerCase()) }));
  return { source: 'made up', items: [0, 1, 2, 3].map((answer) => ({ answer, choices: known })) };
}

/** A run whose four items all got OUTPUT, with the details an honest client has when it reads LETTER (or none). */
function runOf(output, letter) {
  const run = makeRun({ cells: ['quality-mmlu'] });
  const details = ['A', 'B', 'C', 'D'].map((right) => (right === letter ? 1 : 0));
  run.cells[0].quality = { taskId: 'tinymmlu-4', n: 4, outputs: Array(4).fill(output), details,
    score: letter === null ? 0 : 0.25 };
  return seal(run);
}

const PLAIN = keyOf(['first choice', 'second choice', 'third choice', 'fourth choice']);

/** Each [output, letter] must pass with that letter and with no other reading. */
async function readsAs(t, cases, key) {
  const options = ['--mmlu-key', folder.write('key.json', key)];
  const readings = ['A', 'B', 'C', 'D', null];
  const { verdicts } = check(cases.flatMap(([output]) => readings.map((letter) => runOf(output, letter))), options);
  for (const [i, [output, letter]] of cases.entries()) {
    await t.test(`${JSON.stringify(output)} is ${letter ?? 'no answer'}`, () => {
      const clean = readings.filter((_, j) => verdicts[i * readings.length + j].flags.length === 0);
      assert.deepEqual(clean, [letter]);
      const parsed = parseAnswer(output, key.items[0]);
      assert.equal(parsed < 0 ? null : 'ABCD'[parsed], letter, 'the baseline reads it so too');
    });
  }
}

test('a letter at the start or behind a keyword is the answer', (t) => readsAs(t, [
  ['A', 'A'], ['B.', 'B'], ['C, because', 'C'], ['D) because', 'D'], ['(A)', 'A'], ['(B', 'B'], ['C!', 'C'],
    ['D\nbecause', 'D'], ['(A).', 'A'], ['(A)) x', 'A'],
  ['A))', 'A'], ['((A)', null], ['A;', null], ['A:', null], ['A?', null], ['A-', null], ['AB', null],
    ['Apple', null], ['A\u00a0x', 'A'], ['B\u3000x', 'B'], ['C\ufeffx', 'C'], ['D\u2028x', 'D'],
  ['D\u0085x', null], ['\u00a0 \ufeff B', 'B'], ['\u0085B', null], ['E', null], ['', null], ['   ', null],
    ['()', null],
  ['Answer: B', 'B'], ['answer B', 'B'], ['ANSWER-C', 'C'], ['aNSWER: C', null], ['The Answer is D.', 'D'],
    ['Answer is: A', 'A'], ['Answer is - B', 'B'], ['Answeris:C', 'C'],
  ['AnswerD', 'D'], ['myAnswer: A', 'A'], ['Answer\u00a0is\u3000:\ufeffB', 'B'], ['Answer\n\nis\n:\n(C)', 'C'],
    ['Answer is is D', null], ['Answer :: A', null], ['Answer IS B', null],
  ['Answer:', null], ['Answer is', null], ['Answer: (A', 'A'], ['Answer: ((A', null], ['Answer: Ax', null],
    ['Answer: Ax, Answer: B', 'B'], ['Answer: A or Answer: B', 'A'],
  ['AnswerAnswer: C', 'C'], ['Answer Answer D', 'D'], ['Answer is C or Option D', 'C'], ['Option A', 'A'],
    ['option: B', 'B'], ['OPTION - (C)', 'C'], ['Choice D', 'D'], ['choice:A', 'A'], ['CHOICE B!', 'B'],
  ['Option is A', null], ['Choice is B', null], ['so I choose Option: (C), not D', 'C'], ['it is B', null],
    ['B is right', 'B'], ['I say Answer: E then Answer: A', 'A'], ['Answer (B))', 'B'], ['Answer B)x', 'B'],
  ['A)x', 'A'], ['(A)x', 'A'], ['(A)', 'A'], ['Answer\u0085A', null], ['Answer_is_A', 'A'], ['Answer-is-A', null],
    ['Answer\tis\tB\t', 'B'],
], PLAIN));

test('emphasis marks are taken away before the letter is looked for', (t) => readsAs(t, [
  ['**A**', 'A'], ['`B`', 'B'], ['_C_', 'C'], ['**Answer:** D', 'D'], ['* A', 'A'], ['An*sw*er: B', 'B'],
    ['*_`', null], ['**(C)** because', 'C'], ['A*B', null], ['A*.', 'A'],
], PLAIN));

test('thoughts are taken out', (t) => readsAs(t, [
  ['<think>A</think>B', 'B'], ['<THINK>A</THINK> C', 'C'], ['<Think>\nA\n\n</thinK>\nD', 'D'],
    ['<think>A</think>', null], ['<think>A', null], ['B <think>A', 'B'], ['B<think>A', 'B'],
  ['<think>x</think>A<think>y</think>', 'A'], ['A<think>x</think>B', 'A'], ['An<think>x</think>swer: B', null],
    ['<think>a<think>b</think>C', 'C'], ['x</think>D', null], ['A</think>', null], ['B <', 'B'],
    ['<think >A', null],
  ['<think>1</think><think>2</think>C', 'C'], ['<think></think>D', 'D'], ['<think>1</think>2</think>C', null],
    ['<think>1</think> A <think>', 'A'],
], PLAIN));

test('a small letter counts at the start only', (t) => readsAs(t, [
  ['a', 'A'], ['b.', 'B'], ['c)', 'C'], ['(d)', 'D'], ['(a', 'A'], ['b because', null], ['a, b', null],
    ['a!', null], ['d) rest', 'D'], ['answer: a', null], ['e)', null], ['**a**', 'A'], ['ab', null], ['(b).', 'B'],
    ['a b)', null], ['x a)', null],
  ['a) or Answer: B', 'B'],
], PLAIN));

test('the text of a choice at the start is the answer, by lower case, length and hash', async (t) => {
  const choices = ['The red house', 'the red', '\u0130\u{1F600} Gr\u00f6\u1e9ee', '*Starred* thing'];
  const key = keyOf(choices);
  await readsAs(t, [
    ['the red house', 'A'], ['THE RED HOUSE on the hill', 'A'], ['The Red Hous', 'B'], ['the red', 'B'],
      ['the redder', 'B'], ['the re', null], [' \n the red', 'B'], ['so the red', null],
    ['i\u0307\u{1F600} gr\u00f6\u00dfe', 'C'], ['\u0130\u{1F600} GR\u00d6\u1e9eE!', 'C'],
      ['\u0130\u{1F600} GR\u00d6SSE', null], ['i\u{1F600} gr\u00f6\u00dfe', null],
    ['*starred* thing', 'D'], ['*STARRED* THING and more', 'D'], ['starred thing', null],
      ['<think>no</think> The red house', 'A'], ['the\u00a0red', null], ['The red house. Answer: C', 'C'],
      ['\ud83d', null],
    ['\u0130\ud83d', null], ['*starred* thin', null],
  ], key);
});

test('of two choices with the same text the first is the answer', (t) => {
  const key = keyOf(['same', 'other', 'same', 'samesame']);
  return readsAs(t, [['Same', 'A'], ['samesame', 'A'], ['OTHER', 'B']], key);
});

test('hostile outputs end quickly and are read alike', (t) => readsAs(t, [
  [`Answer${' '.repeat(480)}x`, null], ['Answer is '.repeat(50), null], ['Option'.repeat(83), null],
    [`${'<think>'.repeat(71)}`, null], [`${'*'.repeat(499)}A`, 'A'], ['('.repeat(500), null],
  [`${'Answer '.repeat(70)}B`, 'B'], [`${'<think></think>'.repeat(33)}C`, 'C'], ['A)'.repeat(250), 'A'],
    [`Answer:${'\u3000'.repeat(490)}D`, 'D'],
], PLAIN));

test('without a key only lengths and the mean of details are judged', () => {
  const honest = runOf('Answer: A', 'A');
  const wrongDetail = runOf('Answer: A', 'B');
  const run = makeRun({ cells: ['quality-mmlu'] });
  run.cells[0].quality = { ...honest.cells[0].quality, score: 0.5 };
  const wrongScore = seal(run);
  run.cells[0].quality = { ...honest.cells[0].quality, outputs: ['A'] };
  const wrongLength = seal(run);
  const codes = (options) => check([honest, wrongDetail, wrongScore, wrongLength],
    options).verdicts.map(({ flags }) => flags.map(({ code }) => code));
  assert.deepEqual(codes(['--no-mmlu-key']), [[], [], ['quality-details-mismatch'], ['quality-outputs-mismatch']]);
  assert.deepEqual(codes(['--mmlu-key', folder.write('plain.json', PLAIN)]),
    [[], ['quality-details-mismatch'], ['quality-details-mismatch'], ['quality-outputs-mismatch']]);
});
