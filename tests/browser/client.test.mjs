// /client.js, used by a page of another origin in a real browser, against the real service: whatever is cut, killed,
// slow or away, a run is stored once and the page knows what became of it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { startFileRemote } from '../support/remote.mjs';
import { startRemoteService } from '../support/remote_service.mjs';
import { canonical, digestOf, makeRun, seal, sha256 } from '../support/run.mjs';
import { command, holdCommitLock, readLedger, startService } from '../support/service.mjs';
import { openPage, settled, startBrowser } from './support/browser.mjs';

/** A server of another origin with one empty page. */
async function startOrigin(t) {
  const server = http.createServer((request, response) => {
    response.setHeader('Content-Type', request.url === '/' ? 'text/html' : 'image/svg+xml');
    response.end(request.url === '/' ? '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>A runner</title>' : '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.close(); server.closeAllConnections(); });
  return `http://localhost:${server.address().port}`;
}

/** A page of another origin that has imported /client.js of BASE; `page.submit(run, options)` gives {result | error, events}. */
async function openRunner(t, base, { init } = {}) {
  const origin = await startOrigin(t);
  const page = await openPage(t, await startBrowser(t), { hosts: [new URL(base).host] });
  if (init) await page.addInitScript(init);
  page.posts = [];
  page.on('request', (request) => { if (request.method() === 'POST') page.posts.push(request); });
  await page.goto(origin);
  await page.evaluate(async (url) => { globalThis.client = await import(url); }, `${base}/client.js`);
  page.submit = (run, options = {}) => page.evaluate(async ([what, more]) => {
    const events = [];
    const controller = new AbortController();
    const onProgress = (event) => {
      events.push(event);
      if (event.stage === more.abortAt) controller.abort();
    };
    try {
      return { result: await client.submit(what, { backoffMs: 100, signal: controller.signal, ...more, onProgress }), events };
    } catch (error) {
      const { name, code, status, details, retryAfterSec, message, away } = error;
      return { error: { name, code, status, details, retryAfterSec, message, away, kept: error.run }, events };
    }
  }, [run, options]);
  return page;
}

const stages = ({ events }) => events.map(({ stage }) => stage);

/** Exactly the runs of IDS are in the ledger and the tree. */
function assertStored(service, ids) {
  const events = readLedger(service, { canonical, sha256 });
  assert.deepEqual(events.map(({ runId }) => runId), ids);
  assert.deepEqual(service.files().filter((name) => name.startsWith('runs/')).map((name) => path.basename(name, '.json')).sort(),
    [...ids].sort());
}

/**
 * A proxy in front of SERVICE that can be told to meddle with the next submission: `meddle` is called once with
 * {client, server, head} when its request has arrived (`when` request) or its answer has (`when` answer); neither has
 * been passed on then.
 */
async function startProxy(t, service) {
  const proxy = { meddle: null, when: 'answer', sockets: new Set() };
  const server = net.createServer((client) => {
    const upstream = net.connect(service.port, '127.0.0.1');
    let submits = false;
    const pass = (from, to, look) => {
      from.on('data', async (data) => {
        if (proxy.sockets.has(from) && !await look(data)) to.write(data);
      });
      from.on('end', () => to.end());
      from.on('close', () => to.destroy());
      from.on('error', () => {});
      proxy.sockets.add(from);
    };
    const meddle = (when) => {
      if (!submits || proxy.when !== when || !proxy.meddle) return false;
      const work = proxy.meddle;
      proxy.meddle = null;
      proxy.sockets.delete(client);
      proxy.sockets.delete(upstream);
      work({ client, upstream });
      return true;
    };
    pass(client, upstream, (data) => {
      submits = data.toString('latin1').startsWith('POST /api/bench/submit') || submits;
      return meddle('request');
    });
    pass(upstream, client, () => meddle('answer'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.close(); for (const socket of proxy.sockets) socket.destroy(); });
  proxy.base = `http://127.0.0.1:${server.address().port}`;
  return proxy;
}

test('client: a page of another origin fetches a nonce, digests, checks and submits, and the board shows it', async (t) => {
  const service = await startService(t);
  const page = await openRunner(t, service.base);
  const run = makeRun({ id: 'from-elsewhere-1' });
  assert.match(await page.evaluate(() => client.fetchNonce()), /^dev\./);
  assert.equal(await page.evaluate((what) => client.digest(what), run), digestOf(run));
  const checked = await page.evaluate((what) => client.check(what), seal(run));
  assert.equal(checked.ok, true);
  assert.equal(checked.dryRun.path, 'runs/2026/01/from-elsewhere-1.json');
  assert.deepEqual(page.posts, [], 'nothing was sent for that');
  const { result, events } = await page.submit(run);
  assert.equal(result.outcome, 'published');
  assert.equal(result.runId, run.runId);
  assert.match(result.commit, /^[0-9a-f]{40}$/);
  assert.equal(result.page, `${service.base}/run/from-elsewhere-1`);
  assert.deepEqual(stages({ events }), ['nonce', 'sending', 'done']);
  const board = await page.evaluate(async (base) => (await fetch(`${base}/api/bench/leaderboard`)).json(), service.base);
  assert.equal(board.runs, 1);
  assert.ok(board.rows.length > 0);
  assertStored(service, [run.runId]);
  settled(page);
});

test('client: a run without a digest is checked as it would be submitted, a file as it stands', async (t) => {
  const service = await startService(t);
  const page = await openRunner(t, service.base);
  const run = makeRun({ id: 'not-sealed' }), wrong = { ...run, digest: '0'.repeat(64) };
  const said = await page.evaluate(async ([plain, bad]) => {
    const judged = async (file, options) => {
      const { ok, dryRun } = await client.check(file, options);
      return [ok, dryRun.ok, dryRun.code];
    };
    const text = JSON.stringify(plain);
    return { run: await judged(plain), wrong: await judged(bad), resealed: await judged(bad, { reseal: true }),
      text: await judged(text), bytes: await judged(new TextEncoder().encode(text)), blob: await judged(new Blob([text])),
      sent: [(await client.validateRemotely(plain)).ok, (await client.validateRemotely(text)).ok], digest: plain.digest };
  }, [run, wrong]);
  const no = [false, false, 'digest-mismatch'], yes = [true, true, undefined];
  for (const judged of Object.values(said)) if (Array.isArray(judged) && judged[2] === null) judged[2] = undefined;
  assert.deepEqual(said, { run: yes, wrong: no, resealed: yes, text: no, bytes: no, blob: no, sent: [true, false], digest: undefined });
  assert.equal((await page.submit(run)).result.outcome, 'published', 'and so it is');
});

test('client: an origin that may not submit is told so at once', async (t) => {
  const service = await startService(t, { config: { allowed_origins: 'https://runner.example' } });
  const page = await openRunner(t, service.base);
  const { error, events } = await page.submit(makeRun({ id: 'from-nowhere' }), { backoffMs: 60_000 });
  assert.equal(error.code, 'origin-not-allowed');
  assert.match(error.message, new RegExp(`pages of ${new URL(page.url()).origin}\\. .*allowed_origins`));
  assert.equal(error.away, true, 'the run is worth keeping');
  assert.equal(error.kept.runId, 'from-nowhere');
  assert.deepEqual(stages({ events }), ['nonce']);
  assert.deepEqual(page.posts, []);
});

test('client: the digest is that of the contract for whatever JSON holds', async (t) => {
  const service = await startService(t);
  const texts = ['{"b":1,"a":{"\ud83d\ude00":1,"\uffee":2,"10":3,"9":4}}', '{"x":[1e21,1e-7,-0,0.1,123456789012345680000]}',
    '{"s":"\\ud83d \\u0000\\u2028/\\u007f","__proto__":{"a":1},"nonce":"n","digest":"d"}', '{"n":{"digest":1,"nonce":2}}'];
  const found = {};
  for (const insecure of [false, true]) {
    const page = await openRunner(t, service.base,
      { init: insecure ? () => Object.defineProperty(Crypto.prototype, 'subtle', { value: undefined }) : undefined });
    found[insecure] = await page.evaluate((list) => Promise.all(list.map((text) => client.digest(JSON.parse(text)))), texts);
    settled(page);
  }
  assert.deepEqual(found.true, found.false, 'with WebCrypto and with the validator');
  for (const [i, text] of texts.entries()) {
    const { stdout } = await command(['digest', '-'], { input: text });
    assert.equal(`${found.false[i]}\n`, stdout, text);
  }
});

const restart = async (service) => {
  await service.stop('SIGKILL');
  service.options.listen = `127.0.0.1:${service.port}`;
  await service.begin();
};

for (const wantReceipt of [false, true])
  test(`client: the service is killed between commit and answer: one run is stored${wantReceipt ? ', the receipt is fetched' : ''}`, async (t) => {
    const service = await startService(t, { begin: false });
    const key = path.join(service.folder, 'receipt.key');
    assert.equal((await command(['keygen', key])).code, 0);
    await service.restart({ config: { receipt_key_file: key } });
    const proxy = await startProxy(t, service);
    const page = await openRunner(t, proxy.base);
    let restarted = null;
    proxy.meddle = ({ client, upstream }) => { // the answer is there, so the commit is; the client never gets it
      restarted = (async () => {
        await restart(service);
        upstream.destroy();
        client.destroy();
      })();
    };
    const done = await page.submit(makeRun({ id: 'survives-the-kill' }), { wantReceipt });
    await restarted;
    assert.equal(done.result?.outcome, 'published', JSON.stringify(done));
    // On a connection that it had used before Chromium sends a POST again by itself, unseen by the page: then the
    // second answer, `duplicate-run` with `same`, is the one that arrives, and it carries the receipt.
    const { recovered, duplicate, sent, receipt } = done.result;
    assert.ok(recovered || duplicate, JSON.stringify(done));
    assert.equal(sent, recovered && wantReceipt ? 2 : 1);
    assert.equal(receipt?.payload.runId, wantReceipt || duplicate ? 'survives-the-kill' : undefined);
    assert.equal(stages(done).includes('looking'), recovered);
    assertStored(service, ['survives-the-kill']);
  });

test('client: the service is killed before it has the run: it is sent again with the same nonce', async (t) => {
  const service = await startService(t);
  const proxy = await startProxy(t, service);
  const page = await openRunner(t, proxy.base);
  proxy.when = 'request';
  let restarted = null;
  proxy.meddle = ({ client, upstream }) => {
    restarted = (async () => {
      await service.stop('SIGKILL');
      upstream.destroy();
      client.destroy();
      await new Promise((wake) => setTimeout(wake, 300)); // the page finds nobody for a while
      service.options.listen = `127.0.0.1:${service.port}`;
      await service.begin();
    })();
  };
  const done = await page.submit(makeRun({ id: 'comes-a-second-time' }));
  await restarted;
  assert.equal(done.result?.outcome, 'published', JSON.stringify(done));
  assert.equal(done.result.sent, 2);
  assert.equal(stages(done).filter((stage) => stage === 'nonce').length, 1);
  assertStored(service, ['comes-a-second-time']);
});

test('client: an answer that is cut is looked up', async (t) => {
  const service = await startService(t);
  const proxy = await startProxy(t, service);
  const page = await openRunner(t, proxy.base);
  proxy.meddle = ({ client, upstream }) => {
    client.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 500\r\n\r\n{"ok":tr');
    setTimeout(() => { client.destroy(); upstream.destroy(); }, 50);
  };
  const { result } = await page.submit(makeRun({ id: 'cut-in-the-middle' }));
  assert.equal(result.outcome, 'published');
  assert.equal(result.recovered, true);
  assertStored(service, ['cut-in-the-middle']);
});

test('client: 202 is success while the dataset is away; following it sees the end', { timeout: 120_000 }, async (t) => {
  const remote = startFileRemote(t);
  const service = await startRemoteService(t, remote,
    { config: { submit_wait_ms: 2500, remote_timeout_ms: 5000, allowed_origins: '*' } });
  await service.ready();
  const page = await openRunner(t, service.base);
  remote.vanish();
  const first = await page.submit(makeRun({ id: 'queued-run-1' }));
  assert.equal(first.result?.outcome, 'queued', JSON.stringify(first));
  const { result, events } = await page.submit(makeRun({ id: 'queued-run-2', seed: 2 }), { follow: true, followSec: 0.5 });
  assert.equal(result.outcome, 'queued', 'safe, though its end is not known yet');
  assert.ok(stages({ events }).includes('queued'));
  const following = page.submit(makeRun({ id: 'queued-run-3', seed: 3 }), { follow: true, followSec: 60 });
  await page.waitForTimeout(1000);
  remote.reappear();
  const last = await following;
  assert.equal(last.result?.outcome, 'published', JSON.stringify(last));
  assert.match(last.result.commit, /^[0-9a-f]{40}$/);
  assert.equal(last.result.sent, 1);
});

test('client: a store that is held answers 503; the run is sent again and stored once', { timeout: 60_000 }, async (t) => {
  const service = await startService(t, { config: { submit_wait_ms: 200 } });
  const page = await openRunner(t, service.base);
  const release = await holdCommitLock(service);
  const sending = page.submit(makeRun({ id: 'waits-for-the-store' }));
  await page.waitForTimeout(800);
  await release();
  const { result, events } = await sending;
  assert.equal(result?.outcome, 'published');
  assert.equal(events.find(({ stage }) => stage === 'waiting').code, 'store-unavailable');
  assertStored(service, ['waits-for-the-store']);
});

test('client: 429 waits as long as the service says, and tells it', async (t) => {
  const service = await startService(t);
  const page = await openRunner(t, service.base);
  let refused = 0;
  await page.route('**/api/bench/submit', (route) => {
    if (route.request().method() !== 'POST' || refused++) return route.fallback();
    return route.fulfill({ status: 429, headers: { 'access-control-allow-origin': '*', 'content-type': 'application/json',
      'access-control-expose-headers': 'Retry-After', 'retry-after': '1' }, body: '{"ok":false,"code":"rate-limited","message":"x"}' });
  });
  const { result, events } = await page.submit(makeRun({ id: 'waits-its-turn' }));
  assert.equal(result.outcome, 'published');
  assert.deepEqual(events.filter(({ stage }) => stage === 'waiting'),
    [{ stage: 'waiting', runId: 'waits-its-turn', seconds: 1, code: 'rate-limited' }]);
  assert.equal(stages({ events }).filter((stage) => stage === 'nonce').length, 1, 'the nonce is good still');
  assertStored(service, ['waits-its-turn']);
});

test('client: a wait beyond the limit ends with the code and the time', async (t) => {
  const service = await startService(t, { config: { rate_limit: 1 } });
  const page = await openRunner(t, service.base);
  assert.equal((await page.submit(makeRun({ id: 'first-of-the-hour' }))).result.outcome, 'published');
  const { error } = await page.submit(makeRun({ id: 'second-of-the-hour', seed: 2 }), { maxWaitSec: 60 });
  assert.equal(error.name, 'BenchError');
  assert.equal(error.code, 'rate-limited');
  assert.equal(error.status, 429);
  assert.ok(error.retryAfterSec > 60);
  assert.equal(error.away, true);
  assert.equal(error.kept.runId, 'second-of-the-hour');
});

test('client: an expired nonce is fetched anew', async (t) => {
  const service = await startService(t);
  const page = await openRunner(t, service.base);
  let asked = 0;
  await page.route('**/api/bench/nonce', (route) => (asked++ ? route.fallback()
    : route.fulfill({ headers: { 'access-control-allow-origin': '*' }, json: { nonce: `dev.${Date.now() - 25 * 3600 * 1000}.0123456789abcdef` } })));
  const { result, events } = await page.submit(makeRun({ id: 'nonce-was-old-1' }));
  assert.equal(result.outcome, 'published');
  assert.equal(stages({ events }).filter((stage) => stage === 'nonce').length, 2);
});

test('client: refusals end with their code, at once', async (t) => {
  const service = await startService(t);
  const page = await openRunner(t, service.base);
  const codeOf = async (run, options) => (await page.submit(run, options)).error;
  const sent = page.posts;

  const shape = await codeOf({ ...makeRun({ id: 'wrong-shape-1' }), suite: 'none' });
  assert.equal(shape.code, 'invalid-shape');
  assert.deepEqual(shape.details.errors.map(({ path: place }) => place), ['/suite']);

  const before = sent.length;
  assert.equal((await codeOf({ ...makeRun(), digest: '0'.repeat(64) })).code, 'digest-mismatch');
  const large = await codeOf(makeRun({ pad: 4 * 1024 * 1024 }));
  assert.equal(large.code, 'payload-too-large');
  assert.equal(sent.length, before, 'neither was sent');

  const secret = makeRun({ id: 'holds-a-secret' });
  secret.notes = `ghp_${'a1B2'.repeat(9)}`;
  const declined = await codeOf(secret);
  assert.equal(declined.code, 'store-declined');
  assert.equal(declined.status, 422);
  assert.equal(declined.details.reason, 'secret-like');

  const nonce = await service.nonce();
  assert.equal((await service.post(seal(makeRun({ id: 'took-the-nonce' }), nonce))).status, 200);
  await page.route('**/api/bench/nonce', (route) => route.fulfill({ headers: { 'access-control-allow-origin': '*' }, json: { nonce } }));
  assert.equal((await codeOf(makeRun({ id: 'wants-the-same-nonce', seed: 2 }))).code, 'nonce-used');
  await page.unroute('**/api/bench/nonce');

  const other = await codeOf(makeRun({ id: 'took-the-nonce', seed: 9 }));
  assert.equal(other.code, 'duplicate-run');
  assert.equal(other.details.same, false);
});

test('client: the same run again is success, with its receipt', async (t) => {
  const service = await startService(t);
  const key = path.join(service.folder, 'receipt.key');
  assert.equal((await command(['keygen', key])).code, 0);
  await service.restart({ config: { receipt_key_file: key } });
  const page = await openRunner(t, service.base);
  const run = makeRun({ id: 'brought-twice-1' });
  const [first, second] = [await page.submit(run), await page.submit(run)];
  assert.equal(first.result.duplicate, undefined);
  assert.equal(second.result.duplicate, true);
  assert.equal(second.result.outcome, 'published');
  assert.equal(second.result.commit, first.result.commit);
  assert.deepEqual(second.result.receipt, first.result.receipt);
  assert.ok(first.result.receipt.signature);
  assertStored(service, [run.runId]);
});

test('client: where submissions are closed or nobody answers, the run becomes a file', async (t) => {
  const service = await startService(t, { store: null });
  const page = await openRunner(t, service.base);
  const closed = (await page.submit({ ...makeRun({ id: 'no-store-here' }), nonce: 'old' })).error;
  assert.equal(closed.code, 'bench-store-unbound');
  assert.equal(closed.away, true);
  assert.equal(closed.kept.nonce, undefined);
  await service.stop();
  const gone = await page.submit(makeRun({ id: 'nobody-there-1' }), { attempts: 3, backoffMs: 20 });
  assert.equal(gone.error.code, 'unreachable');
  assert.equal(gone.error.away, true);
  assert.equal(stages(gone).filter((stage) => stage === 'waiting').length, 2);
  const [download] = await Promise.all([page.waitForEvent('download'),
    page.evaluate(async (run) => { await client.exportRun(run); }, gone.error.kept)]);
  assert.equal(download.suggestedFilename(), 'nobody-there-1.json');
  const file = JSON.parse(readFileSync(await download.path()));
  assert.equal(file.digest, digestOf(file));
});

test('client: it can be stopped', async (t) => {
  const service = await startService(t);
  const page = await openRunner(t, service.base);
  const { error } = await page.submit(makeRun({ id: 'stopped-before-1' }), { abortAt: 'nonce' });
  assert.equal(error.code, 'aborted');
  assert.equal(page.posts.length, 0);
});

test('client: what is no run is refused here, and a file may be a Blob', async (t) => {
  const service = await startService(t);
  const page = await openRunner(t, service.base);
  const codes = await page.evaluate(() => {
    const circle = {};
    circle.circle = circle;
    return Promise.all([undefined, null, [], 'text', circle, { big: 1n }]
      .map((run) => client.submit(run).catch((error) => `${error.name} ${error.code}`)));
  });
  assert.deepEqual(codes, ['BenchError invalid-json', ...Array(3).fill('BenchError invalid-shape'),
    ...Array(2).fill('BenchError invalid-json')]);
  assert.equal(page.posts.length, 0);
  const checked = await page.evaluate((run) => client.check(new Blob([JSON.stringify(run)])), seal(makeRun()));
  assert.equal(checked.ok, true);
  settled(page);
});

test('client: large runs are packed', async (t) => {
  const service = await startService(t);
  const page = await openRunner(t, service.base);
  const run = makeRun({ id: 'packed-on-the-way', chunks: 800 });
  const { result, events } = await page.submit(run);
  assert.equal(result.outcome, 'published');
  assert.equal(await page.posts.at(-1).headerValue('content-encoding'), 'gzip');
  assert.ok(events.find(({ stage }) => stage === 'sending').bytes < JSON.stringify(run).length / 2);
});

test('client: without WebAssembly the local check says so, and the dry run is there', async (t) => {
  const service = await startService(t);
  const page = await openRunner(t, service.base, { init: () => { delete globalThis.WebAssembly; } });
  const code = await page.evaluate((run) => client.check(run).catch((error) => error.code), seal(makeRun()));
  assert.equal(code, 'no-webassembly');
  const answer = await page.evaluate((run) => client.validateRemotely(run), seal(makeRun()));
  assert.equal(answer.ok, true);
  const refused = await page.evaluate(() => client.validateRemotely('{"a":'));
  assert.equal(refused.code, 'invalid-json');
});

test('client: a page of another origin reads the dataset by its manifest', async (t) => {
  const service = await startService(t, { config: { allowed_origins: 'none' } });
  for (const id of ['read-by-a-page-1', 'read-by-a-page-2']) await service.submit(makeRun({ id }));
  const page = await openRunner(t, service.base);
  const told = await page.evaluate(async (url) => (await (await import(url)).allEntries()).map(({ runId }) => runId), `${service.base}/dataset.js`);
  assert.deepEqual(told, ['read-by-a-page-1', 'read-by-a-page-2']);
});

test('client: is served to every origin, asked for again each time', async (t) => {
  const service = await startService(t, { config: { allowed_origins: 'none' } });
  const response = await service.fetch('/client.js', { headers: { origin: 'https://runner.example' } });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  assert.equal(response.headers.get('cache-control'), 'no-cache');
  assert.match(response.headers.get('content-type'), /^text\/javascript/);
  const tag = response.headers.get('etag');
  assert.equal((await service.fetch('/client.js', { headers: { 'if-none-match': tag } })).status, 304);
  const wasm = await service.fetch('/assets/validator.wasm');
  assert.equal(wasm.headers.get('content-type'), 'application/wasm');
  assert.equal(wasm.headers.get('access-control-allow-origin'), '*');
});

test('client: the example page checks and submits', async (t) => {
  const service = await startService(t);
  const page = await openPage(t, await startBrowser(t));
  await page.goto(`${service.base}/assets/example.html`);
  await page.fill('#run', '{"a":');
  await page.click('#check');
  await page.waitForFunction(() => document.getElementById('said').textContent.startsWith('no run: '));
  await page.fill('#run', JSON.stringify(seal(makeRun({ id: 'by-the-example' }))));
  await page.click('#check');
  await page.waitForFunction(() => document.getElementById('said').textContent === 'fine');
  await page.click('#submit');
  await page.waitForFunction(() => document.getElementById('said').textContent.startsWith('published: '));
  assertStored(service, ['by-the-example']);
  settled(page);
});
