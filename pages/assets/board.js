// The board without loading it anew: fetches the page that the form or a link would open, and takes its parts
// over. What is filtered, sorted and drawn is the server's to say; without this script everything works, too.
const PAUSE_MS = 250; // of typing, before it is searched
const form = document.querySelector('#filters');
const board = document.querySelector('#board');
const said = document.querySelector('#said');
const search = form.elements.q;
let pending = new AbortController();
let shown = location.pathname + location.search;
let timer = 0;
let typing = false; // one entry of the history for a whole search

/** What the form would open, without what is empty. */
function address() {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value !== '') query.set(name, value);
  const text = query.toString();
  return text === '' ? '/' : `/?${text}`;
}

function takeForm(next, keepsSearch) {
  for (const field of next.querySelector('#filters').elements) {
    const own = form.elements[field.name];
    if (!own || (keepsSearch && own === search)) continue;
    const { value } = field; // what is chosen changes while options are moved
    if (field.tagName === 'SELECT') own.replaceChildren(...field.childNodes);
    own.value = value;
  }
}

/** Puts the focus back where it was, or to the board when that place is gone. */
function refocus(id) {
  const place = (id && document.getElementById(id)) || board;
  place.focus({ preventScroll: true });
}

function take(next, keepsSearch) {
  const inside = board.contains(document.activeElement);
  const id = document.activeElement.id;
  takeForm(next, keepsSearch);
  board.replaceChildren(...next.querySelector('#board').childNodes);
  if (inside) refocus(id);
  document.title = next.title;
  said.textContent = board.querySelector('#count').textContent;
  said.classList.add('hidden');
}

/**
 * Shows URL; METHOD of the history (pushState, replaceState) notes it. A later call ends an earlier one. Where
 * fetching fails the page stays as it is and says so.
 */
async function show(url, method, { keepsSearch = false } = {}) {
  clearTimeout(timer);
  pending.abort();
  pending = new AbortController();
  const { signal } = pending;
  board.setAttribute('aria-busy', 'true');
  try {
    const response = await fetch(url, { signal });
    if (!response.ok) throw new Error(response.statusText);
    const next = new DOMParser().parseFromString(await response.text(), 'text/html');
    if (signal.aborted) return;
    if (!next.querySelector('#filters') || !next.querySelector('#board #count')) throw new Error('not the board');
    if (method) history[method](null, '', url);
    shown = location.pathname + location.search;
    take(next, keepsSearch);
  } catch {
    if (!signal.aborted) {
      said.textContent = 'The board could not be loaded. Try again.';
      said.classList.remove('hidden');
    }
  }
  if (!signal.aborted) board.removeAttribute('aria-busy');
}

form.addEventListener('change', (event) => {
  if (event.target === search) return;
  typing = false;
  show(address(), 'pushState');
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  typing = false;
  show(address(), 'pushState');
});
search.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const method = typing ? 'replaceState' : 'pushState';
    typing = true;
    show(address(), method, { keepsSearch: true });
  }, PAUSE_MS);
});
search.addEventListener('blur', () => { typing = false; });
document.addEventListener('click', (event) => {
  const link = event.target.closest('#board a, #reset');
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.pathname !== '/' || link.origin !== location.origin || link.hash !== '') return;
  event.preventDefault();
  typing = false;
  show(link.href, 'pushState');
});
addEventListener('popstate', () => {
  typing = false;
  if (location.pathname + location.search !== shown) show(location.href); // else only a place on the page
});

board.tabIndex = -1;
// Where there is little room the filters wait until they are wanted.
if (matchMedia('(max-width: 40rem)').matches) form.closest('details').open = false;
