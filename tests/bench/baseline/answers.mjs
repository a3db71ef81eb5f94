// Parsing a multiple-choice answer (spec 02): index of the chosen answer, or -1.
import { sha256 } from './json.mjs';

const LETTER = /(?:^|(?:Answer|answer|ANSWER)\s*(?:is)?\s*[:-]?\s*|(?:Option|option|OPTION|Choice|choice|CHOICE)\s*[:-]?\s*)\(?([A-D])\)?(?=[\s.,)!]|$)/;
const SMALL_LETTER = /^\(?([a-d])(?:[).]|$)/;

export function parseAnswer(output, item) {
  let text = output.replace(/<think>[\s\S]*?<\/think>/gi, ' ');
  const open = text.search(/<think>/i);
  if (open >= 0) text = text.slice(0, open);
  text = text.trim();

  const plain = text.replace(/[*`_]/g, '').trim();
  const letter = plain.match(LETTER);
  if (letter) return 'ABCD'.indexOf(letter[1]);
  const small = plain.match(SMALL_LETTER);
  if (small) return 'abcd'.indexOf(small[1]);

  const lower = text.toLowerCase();
  return item.choices.findIndex(({ len, sha256: hash }) =>
    lower.length >= len && sha256(lower.slice(0, len)) === hash);
}
