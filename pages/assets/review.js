// /review/ID: sends a maintainer's decision and shows what became of it. The token stays in the memory of this page, and
// in sessionStorage when the maintainer asks for that; it is in no address, cookie or localStorage.
const PLACE = 'benchledger-review-token';
const ANSWER_MS = 60_000;
const FOLLOW_MS = 120_000, PAUSE_MS = 1500; // of a decision that is durable and not in the dataset yet
const DONE = {
  release: 'Released: the run is on the board now.',
  keep: 'Kept: the run stays in quarantine, marked as looked at.',
  withdraw: 'Withdrawn: the run is not shown any more.',
};
const NOTHING = 'Nothing was decided.';
/** By code: what it means here and what helps; LOOK: the page shows a state that is over. */
const REFUSALS = {
  'invalid-review': { text: `The service does not take this decision as it is: a reason of 1 to 500 characters is needed. ${NOTHING}` },
  unauthorized: { text: `This token is not one of a maintainer, or it has expired. ${NOTHING} Check it, or ask whoever keeps the `
    + 'list of maintainers for another one.' },
  forbidden: { text: `This token may not do that: withdrawing a run takes an admin. ${NOTHING}` },
  'unknown-run': { text: `The service does not know this run any more. ${NOTHING}`, look: true },
  'stale-review': { text: 'Something else was decided about this run since this page was loaded, so yours was not taken. '
    + 'Look at the run as it is now, and decide again if that is still needed.', look: true },
  'wrong-state': { text: `That cannot be done to the run in the state it is in now. ${NOTHING}`, look: true },
  'rate-limited': { text: `Too many wrong tokens came from your address. ${NOTHING}` },
  busy: { text: `The service has too much to do. ${NOTHING} Try again in a moment.` },
  'bench-store-unbound': { text: `The service may not write to its dataset. ${NOTHING}` },
  'store-declined': { text: `The host of the dataset does not take this decision. ${NOTHING} The service's log has the host's words.` },
  'store-unavailable': { text: 'The decision could not be stored now. Look whether it was, then try again.', look: true },
};

const main = document.querySelector('main');
const part = (name) => document.getElementById(`review-${name}`);
let token = '';
let under = false; // a decision is under way

/** sessionStorage may be forbidden: then nothing is kept. */
function kept(change) {
  try {
    return change(sessionStorage);
  } catch {
    return null;
  }
}

function say(text, kind = '', ...more) {
  const said = part('said');
  said.dataset.kind = kind;
  said.replaceChildren(text, ...more);
}

function lookButton() {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Show the run as it is now';
  button.addEventListener('click', () => showNow('This is the run as it is now.', ''));
  return button;
}

/** Puts the page as the service has it now in the place of what is shown, and says TEXT there. */
async function showNow(text, kind) {
  const reason = part('reason')?.value ?? '';
  try {
    const response = await fetch(location.pathname, { cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(ANSWER_MS) });
    if (!response.ok && response.status !== 410) throw new Error(response.statusText);
    const next = new DOMParser().parseFromString(await response.text(), 'text/html');
    main.replaceChildren(...next.querySelector('main').childNodes);
    document.title = next.title;
  } catch {
    say(`${text} The page could not be loaded anew.`, kind, lookButton());
    return;
  }
  if (!part('said')) {
    const said = document.createElement('p');
    Object.assign(said, { id: 'review-said', tabIndex: -1 });
    said.setAttribute('role', 'status');
    main.querySelector('h1').after(said);
  }
  start(kind === 'good' ? '' : reason);
  say(text, kind);
  part('said').focus();
}

const pause = (ms) => new Promise((wake) => { setTimeout(wake, ms); });

/** The run as the API has it, once another revision than REVISION is in the dataset; null when that takes too long. */
async function follow(runId, revision) {
  for (const end = Date.now() + FOLLOW_MS; Date.now() < end; await pause(PAUSE_MS)) {
    const run = await fetch(`/api/bench/runs/${encodeURIComponent(runId)}`, { cache: 'no-store', credentials: 'omit' })
      .then((response) => response.json()).catch(() => null); // it may be away for a moment
    if (run?.ok && run.revision !== revision) return run;
  }
  return null;
}

/** Whether the decision made on the revision that the page showed is ours: another maintainer may have decided the same. */
const isOurs = (event, { action, by, reason }) => event?.action === action && event.by === by && event.reason === reason;

async function followToEnd({ runId, action, expectedRevision }, taken) {
  say('Taken, and durable at this service. Waiting until the dataset has it …');
  const run = await follow(runId, expectedRevision);
  if (!run) {
    say('Taken, and on its way: the dataset does not have it yet. It is not lost; look again later.', '', lookButton());
    return;
  }
  const at = run.history?.findIndex((event) => event.event === 'decide' && event.revision === expectedRevision) ?? -1;
  if (!isOurs(run.history?.[at], { ...taken, action }))
    await showNow('Another decision was in the dataset first, and yours came to nothing: see the history.', 'bad');
  else if (at + 1 < run.history.length) await showNow('Yours is in the dataset, and something else was decided after it: see the history.', 'good');
  else await showNow(DONE[action], 'good');
}

function refuse(status, { code, message, retryAfterSec }) {
  const known = REFUSALS[code] ?? { text: message ? `${message} (${code})` : `The service answered ${status}. ${NOTHING}` };
  const wait = retryAfterSec ? ` It may be tried again in ${retryAfterSec} seconds.` : '';
  say(known.text + wait, 'bad', ...(known.look ? [lookButton()] : []));
  if (code === 'unauthorized') {
    kept((storage) => storage.removeItem(PLACE));
    part('token').focus();
  }
}

async function send(decision) {
  let response, answer;
  try {
    response = await fetch('/api/bench/review', {
      method: 'POST', body: JSON.stringify(decision), credentials: 'omit', cache: 'no-store', redirect: 'error',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, signal: AbortSignal.timeout(ANSWER_MS),
    });
    answer = await response.json();
  } catch {
    say('No answer came. The decision may have arrived all the same: look before you send it again.', 'bad', lookButton());
    return;
  }
  if (response.status === 202) await followToEnd(decision, answer);
  else if (response.ok) await showNow(DONE[decision.action], 'good');
  else refuse(response.status, answer);
}

function remember() {
  if (part('remember').checked) kept((storage) => storage.setItem(PLACE, token));
  else kept((storage) => storage.removeItem(PLACE));
}

async function decide(form) {
  token = part('token').value.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) {
    refuse(401, { code: 'unauthorized' }); // no header can hold it
    return;
  }
  remember();
  under = true;
  form.setAttribute('aria-busy', 'true');
  say('Sending …');
  await send({ runId: form.dataset.run, action: form.elements.action.value, reason: part('reason').value.trim(),
    expectedRevision: Number(form.dataset.revision) });
  form.removeAttribute('aria-busy');
  under = false;
}

/** Makes the form of the page that is shown work; it begins with REASON. */
function start(reason) {
  const form = document.getElementById('review');
  if (!form) return;
  const stored = kept((storage) => storage.getItem(PLACE));
  part('token').value = token || stored || '';
  part('remember').checked = stored !== null;
  part('remember').addEventListener('change', () => {
    if (!part('remember').checked) kept((storage) => storage.removeItem(PLACE));
  });
  part('reason').value = reason;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!under) decide(form);
  });
  form.hidden = false;
}

start('');
