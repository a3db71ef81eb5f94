// The part of /check that takes runs back: codes that this browser keeps, and a form for one that somebody wrote down.
import { withdraw, withdrawCodes } from '/client.js';

const section = document.querySelector('#withdraw'), form = section.querySelector('form');
const [run, code] = form.querySelectorAll('input'), status = section.querySelector('[role=status]');
const kept = section.querySelector('ul');

const WORDS = {
  forbidden: 'That is not the code of this run, or it was submitted without one.',
  'unknown-run': 'No run with this id is known here.',
  'wrong-state': 'This run is not on the board: it was taken back before, or is not in the dataset yet.',
  'stale-review': 'Something else is being decided about this run, or was just now. Try again in a moment.',
  'store-declined': 'The host of the dataset does not take it: the run stays on the board. Tell whoever runs the service.',
  'store-unavailable': 'It could not be stored now. Look whether it was, then try again.',
  'rate-limited': 'Too many wrong codes came from your address. Try again later.',
};

async function takeBack(runId, own) {
  status.textContent = 'Asking the service …';
  try {
    const answer = await withdraw(runId, { code: own });
    status.textContent = answer.queued ? 'Taken, and on its way: the run leaves the board when the dataset has it.'
      : 'The run is off the board.';
  } catch (error) {
    status.textContent = WORDS[error.code] ?? `It did not work (${error.code ?? 'failed'}): ${error.message}`;
  }
}

/** Shows the codes that are kept here, newest first. */
export function showKept() {
  kept.replaceChildren(...withdrawCodes().reverse().map((row) => {
    const item = document.createElement('li'), name = document.createElement('code'), button = document.createElement('button');
    name.textContent = row.runId.slice(0, 64);
    button.type = 'button';
    button.textContent = 'Fill in';
    button.setAttribute('aria-label', `Fill in the code of run ${name.textContent}`);
    button.addEventListener('click', () => {
      run.value = row.runId;
      code.value = row.code;
      form.querySelector('button').focus();
    });
    item.append(name, ' ', button);
    return item;
  }));
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  takeBack(run.value.trim(), code.value.trim());
});
section.hidden = false;
showKept();
