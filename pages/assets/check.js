// /check: judges run files in the browser and submits one when its button is pressed. Before that nothing leaves the
// browser, unless it cannot run the validator: then the page says so and has a button for that, too.
import { exportRun, LIMIT_BYTES, submit, validateRemotely } from '/client.js';
import { showKept } from '/assets/withdraw.js';

const FILES_MOST = 20;
const BYTES_MOST = 64 * 1024 * 1024; // beyond that a browser's memory is at stake
const ANSWER_MS = 60_000; // a file of that size takes a few seconds: what is silent for longer has died
const START_MS = 150_000; // more than client.js gives the fetching of the module
// As pages/terms.c has them, for where there is no module to make the tables: key, name, unit.
const FIGURES = [
  ['ttftMs', 'TTFT', 'ms'], ['decodeCharsPerSec', 'Decode', 'chars/s'], ['overallCharsPerSec', 'End to end', 'chars/s'],
  ['singleLatencyMs', 'Embedding latency', 'ms'], ['batchTextsPerSec', 'Embedding rate', 'texts/s'],
];

const find = (id) => document.getElementById(`check-${id}`);
const form = document.getElementById('check'), input = find('files'), results = find('results'), stop = find('stop');

/** An element; attributes that are undefined are left out, texts are texts. */
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else if (value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

const say = (text) => { find('status').textContent = text; };
const mark = (word, kind) => make('span', { class: `mark ${kind}` }, word);
const plural = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;
// Direction marks and controls in a text of the file must not play tricks here either.
const CONTROLS = new RegExp(`(?!\\n)[${form.dataset.controls}]`, 'gu');
const plain = (text) => String(text).replace(CONTROLS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
const pretty = (value) => make('pre', { tabindex: '0' }, plain(JSON.stringify(value, null, 2)));
const short = (text, most = 200) => (text.length > most ? `${plain(text.slice(0, most))}…` : plain(text));
const number = (value) => (typeof value === 'number' ? (Math.round(Math.round(value * 100) / 10) / 10).toFixed(1) : '–');

// Where files are judged.

let worker = null; // one that is ready
let turn = Promise.resolve(); // when the question before has ended
let stopping = new AbortController(); // Stop ends everything that is under way

const UNHARMED = 'It was not judged, and nothing was sent. Choose it again, or another one.';

/** The next message of MADE, an answer to MESSAGE. A worker that is stopped, breaks or stays silent is ended. */
function exchange(made, message, ms, signal) {
  return new Promise((resolve, reject) => {
    const heard = new AbortController();
    const end = (why) => {
      close();
      made.terminate();
      reject(new Error(why));
    };
    const timer = setTimeout(() => end(`The validator gave no answer for ${ms / 1000} seconds.`), ms);
    const close = () => {
      clearTimeout(timer);
      heard.abort();
    };
    const on = (target, type, act) => target.addEventListener(type, act, { signal: heard.signal });
    on(made, 'message', ({ data }) => {
      close();
      resolve(data);
    });
    on(made, 'error', ({ message: why }) => end(`The validator broke off${why ? `: ${short(why)}` : ''}.`));
    on(made, 'messageerror', () => end('The answer of the validator could not be read.'));
    on(signal, 'abort', () => end('Stopped.'));
    made.postMessage(message);
  });
}

/** Resolves with a worker that can judge. */
async function startWorker(signal) {
  if (typeof WebAssembly !== 'object' || !form.dataset.validator) throw new Error('no validator');
  const made = new Worker(form.dataset.worker, { type: 'module' });
  const { ready, failed } = await exchange(made, { validator: new URL(form.dataset.validator, location).href }, START_MS, signal);
  if (ready) return made;
  made.terminate();
  throw new Error(failed);
}

async function ask(name, bytes, signal) {
  try {
    if (!signal.aborted) worker ??= await startWorker(signal);
  } catch (error) {
    if (!signal.aborted) throw new Error(`The validator could not be started again (${error.message}) Nothing was sent. Load this page again.`);
  }
  if (signal.aborted) throw new Error(`Stopped. ${UNHARMED}`);
  try {
    return await exchange(worker, { name, bytes: bytes.buffer }, ANSWER_MS, signal);
  } catch (error) {
    worker = null; // the next file gets another one
    throw new Error(`${error.message} ${UNHARMED}`);
  }
}

/** One file at a time, so that none is blamed for the silence about another. */
function here(name, bytes, signal) {
  const mine = turn.then(() => ask(name, bytes, signal));
  turn = mine.catch(() => {});
  return mine;
}

async function there(bytes, signal) {
  const dryRun = await validateRemotely(bytes, { signal }).catch((error) => {
    throw signal.aborted ? new Error('Stopped. The file may have reached the service, which stores nothing of a check.') : error;
  });
  const { flags = [], summaries = [], errors = [] } = dryRun;
  return { check: { flags, summaries, shapeErrors: errors }, dryRun, markup: null };
}

// What is shown of a file.

const DIGESTS = {
  ok: 'The digest verifies.',
  legacy: 'The digest verifies under the older rule, which covered the nonce; submitting puts in the present one.',
  missing: 'The digest is missing.',
  mismatch: 'The digest does not verify.',
};

function verdictOf({ check, dryRun }, size) {
  const rejects = check.flags.filter(({ severity }) => severity === 'reject').length;
  const warnings = check.flags.length - rejects;
  const refused = (why) => ['refused', 'bad', `The service would refuse this file. ${why}`];
  if (dryRun.ok && size > LIMIT_BYTES) return refused(`It has ${size} bytes; the service takes ${LIMIT_BYTES}.`);
  switch (dryRun.ok ? 'taken' : dryRun.code) {
    case 'taken':
      if (dryRun.flagged)
        return ['quarantine', 'bad', `This run would go to quarantine and not onto the board: ${plural(rejects, 'finding')} `
          + 'of the rules reject it.'];
      return ['publishable', 'good', warnings ? `This run would be published, with ${plural(warnings, 'warning')}.`
        : 'This run would be published: no rule has anything to say.'];
    case 'invalid-json':
      return refused(`It is not JSON: ${dryRun.message} (line ${dryRun.line}, column ${dryRun.column}).`);
    case 'digest-mismatch':
      if (/has no digest/.test(dryRun.message))
        return refused(`${dryRun.message} Export it again, or put in the one of its content: ${dryRun.computed}.`);
      return refused(`${dryRun.message} It was changed after it was exported, or is not whole. Its content has the `
        + `digest ${dryRun.computed}.`);
    case 'invalid-shape':
      return refused(`It is not a run file as the service takes it: ${plural(dryRun.errors.length, 'thing')} to mend.`);
    default:
      return refused(dryRun.message);
  }
}

function table(label, heads, rows) {
  return make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
    make('table', {}, make('thead', {}, make('tr', {}, heads.map((head) => make('th', { scope: 'col' }, head)))),
      make('tbody', {}, rows)));
}

function shapeErrors(errors) {
  if (!errors?.length) return null;
  return [make('h3', {}, 'What is wrong with its form'), table('What is wrong', ['Where', 'What'],
    errors.map(({ path, message }) => make('tr', {}, make('td', {}, make('code', {}, path ? short(path) : 'the file')),
      make('td', {}, plain(message)))))];
}

function flagItem({ code, severity, cellId, message, evidence }, protocol) {
  const advice = document.querySelector(`[data-rule="${CSS.escape(code)}"] .advice`)?.textContent;
  const facts = Object.entries(evidence ?? {}).map(([name, value]) => [make('dt', {}, plain(name)),
    make('dd', {}, short(typeof value === 'string' ? value : JSON.stringify(value)))]);
  return make('li', {},
    make('p', {}, mark(severity, severity === 'reject' ? 'bad' : 'warn'), ' ',
      protocol ? make('a', { href: `/methodology/${protocol}#${code}` }, make('code', {}, code)) : make('code', {}, code),
      `: ${plain(message)}`,
      cellId === undefined ? '' : [' in ', make('bdi', {}, short(cellId))].flat(), '.'),
    facts.length ? make('dl', { class: 'facts' }, facts.flat()) : null,
    advice ? make('p', { class: 'advice' }, make('strong', {}, 'What to do: '), advice) : null);
}

function flagList(flags, protocol) {
  if (!flags.length) return null;
  return [make('h3', {}, 'What the rules say'), make('ul', { class: 'flags' }, flags.slice(0, 200)
    .map((flag) => flagItem(flag, protocol))),
    flags.length > 200 ? make('p', {}, `And ${flags.length - 200} more.`) : null];
}

function figures(summaries) {
  const used = FIGURES.filter(([key]) => summaries.some((cell) => cell[key]));
  if (!used.length) return null;
  const rows = summaries.map((cell) => make('tr', {}, make('th', { scope: 'row' }, make('bdi', {}, short(cell.cellId)),
    cell.status === 'ok' ? '' : ' ', cell.status === 'ok' ? '' : mark(cell.status, 'warn'),
    cell.highVariance ? ' ' : '', cell.highVariance ? mark('high variance', 'warn') : ''),
  used.map(([key]) => make('td', { class: 'number' }, number(cell[key]?.median)))));
  return [make('h3', {}, 'Recomputed figures'),
    make('p', { class: 'soft' }, 'Medians, computed from the raw trace; what the file itself claims is not used.'),
    table('Recomputed figures', ['Cell', ...used.map(([, label, unit]) => `${label}, ${unit}`)], rows)];
}

function publication({ removed, entry, path }) {
  if (!entry) return null;
  return [make('h3', {}, 'What would be published'),
    make('p', {}, removed.length ? 'Taken out or made coarser before anything is stored, because it could tell who you are:'
      : 'Nothing has to be taken out: the file holds nothing that could tell who you are.'),
    removed.length ? make('ul', {}, removed.map((name) => make('li', {}, make('code', {}, name)))) : null,
    make('p', {}, 'It would be stored as ', make('code', {}, path), '.'),
    make('details', {}, make('summary', {}, 'Its entry in the public index'),
      pretty(entry))];
}

/**
 * The markup of a run page as part of this one: without the verdict, which stands above, headings two levels down, ids
 * its own beside those of other files.
 */
function runPage(list, markup) {
  if (!markup) return null;
  const holder = make('div');
  holder.innerHTML = markup; // made by the validator, which escapes whatever comes from the file
  for (const gone of holder.querySelectorAll('#verdict, li:has(> a[href="#verdict"])')) gone.remove();
  const prefix = `file-${list.childElementCount + 1}-`;
  for (const node of holder.querySelectorAll('[id]')) node.id = prefix + node.id;
  for (const link of holder.querySelectorAll('a[href^="#"]'))
    link.setAttribute('href', `#${prefix}${link.getAttribute('href').slice(1)}`);
  for (const head of holder.querySelectorAll('h1, h2, h3, h4')) {
    const lower = make(`h${Number(head.tagName[1]) + 2}`);
    lower.append(...head.childNodes);
    head.replaceWith(lower);
  }
  return make('details', { class: 'run-page', open: list.childElementCount === 0 ? '' : undefined },
    make('summary', {}, 'Recomputed figures, traces, environment: the run as its page shows it'), holder);
}

// Submitting.

const STAGES = {
  nonce: () => 'Asking for a nonce …',
  sending: ({ attempt }) => (attempt > 1 ? `Sending again (try ${attempt}) …` : 'Sending …'),
  waiting: ({ seconds, code }) => `Waiting ${plural(seconds, 'second')} (${code}) …`,
  looking: () => 'The answer was lost: looking whether the run has arrived …',
  queued: () => 'Taken; waiting for the dataset …',
  done: () => 'Done.',
};
const OUTCOMES = {
  published: 'The run is published.',
  quarantined: 'The run is stored in quarantine, in public and off the board.',
  queued: 'The run is safe with the service and reaches the dataset when that can be reached.',
};

function submitted(result) {
  return [make('p', {}, mark(result.outcome, result.outcome === 'published' ? 'good' : 'warn'), ' ',
    OUTCOMES[result.outcome] ?? '', result.duplicate ? ' It had been accepted before.' : ''),
  make('p', {}, make('a', { href: `/run/${encodeURIComponent(result.runId)}` }, 'Open the page of this run')),
  make('dl', { class: 'facts' }, [['Path', result.path], ['Commit', result.commit]].filter(([, value]) => value)
    .flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, make('code', {}, value))])),
  result.withdrawCode ? make('details', {}, make('summary', {}, 'Code that takes this run back'),
    make('p', {}, 'Kept in this browser. Write it down if that may be cleared: nobody can make it again.'),
    make('p', {}, make('code', { class: 'withdraw-code' }, result.withdrawCode))) : null,
  result.receipt ? make('details', {}, make('summary', {}, 'Receipt, signed by the service'),
    pretty(result.receipt)) : null];
}

function failed(error) {
  return [make('p', {}, mark(error.code ?? 'failed', 'bad'), ` ${plain(error.message)}`),
    error.away ? make('p', {}, 'The run itself is fine. Keep the file and try again later.') : null,
    error.away && error.run ? make('button', { type: 'button', click: () => exportRun(error.run) }, 'Save the run as a file')
      : null];
}

function submission(bytes, { dryRun }) {
  if (!dryRun.ok) return null;
  const outcome = make('div', { class: 'outcome', tabindex: '-1' });
  const progress = make('span', { role: 'status' });
  let going = null;
  const button = make('button', { type: 'button', class: 'primary', click: async () => {
    if (going) {
      going.abort();
      return;
    }
    going = new AbortController();
    button.textContent = 'Stop';
    outcome.replaceChildren();
    try {
      const run = JSON.parse(new TextDecoder().decode(bytes)); // white space and order do not count: the digest stays
      // Its digest verifies; under the older rule it also covers the nonce that is put in anew.
      outcome.append(...submitted(await submit(run, { signal: going.signal, reseal: true,
        onProgress: (event) => { progress.textContent = STAGES[event.stage]?.(event) ?? ''; } })).filter(Boolean));
      button.remove();
      showKept();
      progress.textContent = '';
    } catch (error) {
      progress.textContent = '';
      button.textContent = 'Submit this run';
      outcome.append(...failed(error).filter(Boolean));
    }
    going = null;
    outcome.focus();
  } }, 'Submit this run');
  const note = dryRun.flagged ? 'It would be stored in quarantine, in public. ' : '';
  return [make('h3', {}, 'Submit it'), make('p', {}, `${note}The button sends the file, with a fresh nonce put in.`),
    make('p', {}, button, ' ', progress), outcome];
}

function show(list, name, bytes, judged) {
  const { check, dryRun, markup } = judged;
  const [word, kind, text] = verdictOf(judged, bytes.length);
  const rulesVersion = check.rulesVersion ?? dryRun.rulesVersion;
  const head = make('h2', { tabindex: '-1' }, make('bdi', {}, short(name)));
  list.append(make('section', { class: `checked ${kind}`, 'data-verdict': word }, ...[head,
    make('p', { class: 'verdict' }, mark(word, kind), ` ${text}`),
    make('p', { class: 'soft' }, rulesVersion && !check.shapeErrors?.length ? `Judged by rule set ${rulesVersion}. ` : '',
      DIGESTS[check.digest] ?? ''),
    shapeErrors(dryRun.errors), flagList(check.flags, dryRun.entry?.protocol), markup ? null : figures(check.summaries),
    publication(dryRun),
    bytes.length > LIMIT_BYTES ? null : submission(bytes, judged), runPage(list, markup)].flat().filter(Boolean)));
  return { head, text };
}

function showProblem(list, name, text) {
  const head = make('h2', { tabindex: '-1' }, make('bdi', {}, short(name)));
  list.append(make('section', { class: 'checked bad', 'data-verdict': 'unread' }, head,
    make('p', { class: 'verdict' }, mark('not checked', 'bad'), ` ${text}`)));
  return { head, text };
}

/** What WORK comes to, unless SIGNAL comes first. */
function unless(signal, work) {
  return new Promise((resolve, reject) => {
    const give = () => reject(new Error(`Stopped. ${UNHARMED}`));
    if (signal.aborted) give();
    signal.addEventListener('abort', give, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', give));
  });
}

async function checkOne(list, file, judge, signal) {
  if (file.size > BYTES_MOST) return showProblem(list, file.name, 'The file is too large to be a run file.');
  try {
    const bytes = new Uint8Array(await unless(signal, file.arrayBuffer())); // a file may be far away, too
    const { check, dryRun, markup, error } = await judge(file.name, bytes.slice(), signal);
    if (error) return showProblem(list, file.name, error);
    return show(list, file.name, bytes, { check: { flags: [], summaries: [], ...check }, dryRun, markup });
  } catch (error) {
    return showProblem(list, file.name, error.message);
  }
}

/** A later choice takes the place of one that is still being judged; Stop ends both. */
async function checkAll(files, judge) {
  const list = make('div', {}), shown = [], { signal } = stopping;
  results.replaceChildren(list);
  form.setAttribute('aria-busy', 'true');
  stop.hidden = false;
  for (const file of [...files].slice(0, FILES_MOST)) {
    say(`Checking ${short(file.name)} …`);
    shown.push(await checkOne(list, file, judge, signal));
    if (!list.isConnected) return;
    if (signal.aborted) break;
  }
  form.removeAttribute('aria-busy');
  stop.hidden = true;
  const left = files.length - shown.length;
  if (shown.length === 1 && !left) say(shown[0].text);
  else if (signal.aborted) say(`Stopped: ${plural(left + 1, 'file')} not checked.`);
  else say(`${plural(shown.length, 'file')} checked.${left > 0 ? ` ${left} left out.` : ''}`);
  shown[0]?.head.focus();
}

// Choosing: by the input, or by dropping anywhere.

function receive(files, mode) {
  if (!files.length) return;
  if (mode === 'here') {
    checkAll(files, here);
    return;
  }
  results.replaceChildren(make('section', { class: 'checked' },
    make('p', {}, 'Checking will send ', [...files].map(({ name }) => short(name)).join(', '), ' to this service.'),
    make('button', { type: 'button', class: 'primary', click: () => checkAll(files, (_, bytes, signal) => there(bytes, signal)) },
      `Send ${plural(files.length, 'file')} for checking`)));
  say('Nothing has been sent yet.');
  results.querySelector('button').focus();
}

async function start() {
  let mode = 'here';
  const words = find('mode');
  words.hidden = false;
  words.textContent = 'Loading the validator …';
  try {
    worker = await startWorker(stopping.signal);
  } catch {
    mode = 'there';
  }
  words.textContent = mode === 'here'
    ? 'Files are judged here, by the very code that the service runs. Nothing is sent before you press a button, and '
      + 'this page now works without a network.'
    : 'This browser cannot run the validator. A file that you check here WILL BE SENT to this service, which judges it '
      + 'and stores nothing.';
  words.classList.toggle('note', mode === 'there');
  form.hidden = false;
  form.dataset.mode = mode;
  input.addEventListener('click', () => { input.value = ''; }); // so that the same file can be chosen again
  input.addEventListener('change', () => receive([...input.files], mode));
  stop.addEventListener('click', () => {
    stopping.abort();
    stopping = new AbortController();
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  for (const type of ['dragover', 'drop', 'dragleave'])
    addEventListener(type, (event) => {
      event.preventDefault();
      form.classList.toggle('over', type === 'dragover');
      if (type === 'drop') receive([...event.dataTransfer.files], mode);
    });
}

start();
