// The webhook against receivers that behave, and that do not.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { makeCertificates } from '../support/certificates.mjs';
import { command, sleep, startService } from '../support/service.mjs';

const POSTER = process.env.BENCHLEDGER_POSTER;
if (!POSTER) throw new Error('BENCHLEDGER_POSTER names the program that posts');
const SECRET = 'a secret of some length';
const FAST = { base_ms: 20, ceiling_ms: 100 };

async function until(condition, what, ms = 15_000) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await condition();
    if (found) return found;
    if (Date.now() > end) throw new Error(`never: ${what()}`);
    await sleep(20);
  }
}

/** A receiver that answers with HANDLER(response, request, number) and keeps what it got. */
async function receive(t, handler, { port = 0 } = {}) {
  const received = [];
  const server = http.createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      received.push({ method: request.method, url: request.url, headers: request.headers, at: Date.now(),
        body: Buffer.concat(parts).toString() });
      handler(response, request, received.length);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  };
  t.after(close);
  return { received, close, port: server.address().port, url: `http://127.0.0.1:${server.address().port}/hook?a=b` };
}

/** The program that posts, with OPTIONS of the webhook. */
function post(t, url, options = FAST, env = {}) {
  const child = spawn(POSTER, [url, SECRET, ...Object.entries(options).map((pair) => pair.join('='))],
    { env: { PATH: process.env.PATH, ...env } });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const poster = { log: '' };
  const ended = once(child, 'close');
  child.stderr.on('data', (data) => { poster.log += data; });
  child.stdin.on('error', () => {});
  poster.tell = (line) => child.stdin.write(`${line}\n`);
  poster.post = (value) => poster.tell(`post ${JSON.stringify(value)}`);
  poster.ask = async (line) => {
    poster.tell(line);
    return JSON.parse((await lines.next()).value);
  };
  poster.stop = async () => {
    const { ms } = await poster.ask('stop');
    const [code] = await ended;
    assert.equal(code, 0, poster.log);
    return ms;
  };
  /** Waits until the figures hold what WANTED does. */
  poster.figures = async (wanted) => {
    let last;
    return until(async () => {
      last = await poster.ask('figures');
      return Object.entries(wanted).every(([key, value]) => last[key] === value) && last;
    }, () => `${JSON.stringify(wanted)}, but ${JSON.stringify(last)}\n${poster.log}`);
  };
  t.after(() => child.kill('SIGKILL'));
  poster.pid = child.pid;
  return poster;
}

const answer = (status, headers) => (response) => response.writeHead(status, headers).end('so be it');

function checkSigned(delivery) {
  const { headers, body } = delivery;
  const stamp = headers['x-benchledger-timestamp'];
  assert.equal(headers['content-type'], 'application/json');
  assert.match(headers['user-agent'], /^benchledger\/\d+\.\d+\.\d+$/);
  assert.match(headers['x-benchledger-delivery'], /^[0-9a-f]{16}$/);
  assert.match(stamp, /^\d{10}$/);
  assert.ok(Math.abs(Number(stamp) - delivery.at / 1000) < 10);
  assert.equal(headers['x-benchledger-signature'],
    `sha256=${createHmac('sha256', SECRET).update(`${stamp}.${body}`).digest('hex')}`);
  assert.equal(headers.expect, undefined);
  assert.equal(delivery.method, 'POST');
  assert.equal(delivery.url, '/hook?a=b');
}

test('bodies arrive signed, once, in order', async (t) => {
  const receiver = await receive(t, answer(204));
  const poster = post(t, receiver.url);
  for (let i = 0; i < 50; i++) poster.post({ i, text: 'ä'.repeat(i) });
  await poster.figures({ delivered: 50, failed: 0, dropped: 0, queued: 0 });
  receiver.received.forEach(checkSigned);
  assert.deepEqual(receiver.received.map(({ body }) => JSON.parse(body).i), Array.from({ length: 50 }, (_, i) => i));
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['x-benchledger-delivery'])).size, 50);
  await poster.stop();
  assert.equal(poster.log, '');
});

test('a large body arrives whole', async (t) => {
  const receiver = await receive(t, answer(200));
  const poster = post(t, receiver.url);
  await poster.ask('fill 1 3000000');
  await poster.figures({ delivered: 1 });
  assert.equal(receiver.received[0].body.length, 3000000);
  checkSigned(receiver.received[0]);
});

test('a failed attempt is repeated with the same id, and holds up those behind it', async (t) => {
  const receiver = await receive(t, (response, request, n) => answer(n <= 4 ? 500 : 200)(response));
  const poster = post(t, receiver.url, { base_ms: 100, ceiling_ms: 400 });
  poster.post('first');
  poster.post('second');
  await poster.figures({ delivered: 2, failed: 4, dropped: 0 });
  const { received } = receiver;
  received.forEach(checkSigned);
  assert.deepEqual(received.map(({ body }) => body), [...Array(5).fill('"first"'), '"second"']);
  assert.equal(new Set(received.slice(0, 5).map(({ headers }) => headers['x-benchledger-delivery'])).size, 1);
  const pauses = received.slice(1, 5).map(({ at }, i) => at - received[i].at);
  for (const [i, least] of [50, 100, 200, 200].entries())
    assert.ok(pauses[i] >= least - 5, `pauses: ${pauses}`);
  await poster.stop();
  assert.equal(poster.log.match(/an attempt failed/g).length, 4);
  assert.match(poster.log, /to=http:\/\/127\.0\.0\.1 delivery=[0-9a-f]{16} status=500\n/);
  assert.ok(!poster.log.includes('/hook'));
});

test('a receiver that is down gets everything when it is back', async (t) => {
  const gone = await receive(t, answer(200));
  await gone.close();
  const poster = post(t, gone.url);
  for (let i = 0; i < 5; i++) poster.post(i);
  await until(async () => (await poster.ask('figures')).failed >= 3, () => poster.log);
  const receiver = await receive(t, answer(200), { port: gone.port });
  await poster.figures({ delivered: 5, dropped: 0, queued: 0 });
  assert.deepEqual(receiver.received.map(({ body }) => body), ['0', '1', '2', '3', '4']);
});

test('one that hangs is left after the deadline, and asked again', async (t) => {
  const receiver = await receive(t, (response, request, n) => { if (n > 2) answer(200)(response); });
  const poster = post(t, receiver.url, { ...FAST, total_ms: 300 });
  poster.post('patience');
  await poster.figures({ delivered: 1, failed: 2 });
  assert.match(poster.log, /[Tt]imeout/);
});

test('one that trickles its answer is left after the deadline', async (t) => {
  const receiver = await receive(t, (response, request, n) => {
    if (n > 1) return answer(200)(response);
    response.writeHead(200);
    const timer = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(timer));
  });
  const poster = post(t, receiver.url, { ...FAST, total_ms: 300 });
  poster.post('patience');
  await poster.figures({ delivered: 1, failed: 1 });
});

test('an answer without end is cut off, and counts by its status', async (t) => {
  let sent = 0;
  const receiver = await receive(t, (response, request, n) => {
    response.writeHead(n === 1 ? 503 : 200);
    const pour = () => { while (!response.destroyed && response.write(Buffer.alloc(16384))) sent += 16384; };
    response.on('drain', pour);
    pour();
  });
  const poster = post(t, receiver.url, { ...FAST, total_ms: 60_000 });
  poster.post('enough');
  await poster.figures({ delivered: 1, failed: 1 });
  assert.ok(sent < 64 << 20, `${sent}`);
  assert.equal(receiver.received.length, 2);
});

test('redirects are not followed', async (t) => {
  const other = await receive(t, answer(200));
  const receiver = await receive(t, (response, request, n) =>
    answer(n === 1 ? 302 : n === 2 ? 307 : 200, { location: other.url })(response));
  const poster = post(t, receiver.url);
  poster.post('here');
  await poster.figures({ delivered: 1, failed: 2 });
  assert.equal(other.received.length, 0);
});

test('410 drops a body at once', async (t) => {
  const receiver = await receive(t, (response, request, n) => answer(n === 1 ? 410 : 200)(response));
  const poster = post(t, receiver.url, { base_ms: 60_000, ceiling_ms: 60_000 });
  poster.post('not wanted');
  poster.post('wanted');
  await poster.figures({ delivered: 1, failed: 1, dropped: 1, queued: 0 });
  assert.deepEqual(receiver.received.map(({ body }) => body), ['"not wanted"', '"wanted"']);
  assert.match(poster.log, /a body was dropped.*status=410/);
});

test('a body that is refused again and again does not hold up the next ones', async (t) => {
  const refusals = new Map([['no', 400], ['later', 429], ['nothing', 404]]);
  const seen = [];
  const receiver = await receive(t, (response) => {
    const body = JSON.parse(receiver.received.at(-1).body);
    seen.push(body);
    const often = seen.filter((other) => other === body).length;
    answer(body === 'later' && often > 12 ? 200 : refusals.get(body) ?? 200)(response);
  });
  const poster = post(t, receiver.url, { base_ms: 5, ceiling_ms: 10 });
  for (const body of ['no', 'later', 'nothing', 'yes']) poster.post(body);
  await poster.figures({ delivered: 2, dropped: 2, queued: 0, mark: 4 });
  for (const [body, often] of [['no', 10], ['later', 13], ['nothing', 10], ['yes', 1]])
    assert.equal(seen.filter((other) => other === body).length, often, body);
  assert.equal(poster.log.match(/refused again and again, a body was dropped.*status=40[04]/g).length, 2);
});

test('the mark is that of the last body of which, and of all before it, the end is known', async (t) => {
  let open = 2;
  const waiting = [];
  const receiver = await receive(t, (response) => { if (open-- > 0) answer(200)(response); else waiting.push(response); });
  const poster = post(t, receiver.url);
  assert.equal((await poster.ask('figures')).mark, 0);
  for (let i = 1; i <= 5; i++) poster.post(i);
  await poster.figures({ delivered: 2, queued: 3, mark: 2 });
  await poster.ask('fill 1 5000000'); /* larger than all that may wait: dropped */
  await poster.figures({ dropped: 1, mark: 2 });
  open = Infinity;
  await until(() => waiting.length, () => poster.log);
  answer(200)(waiting[0]);
  await poster.figures({ delivered: 5, queued: 0, mark: 6 });
});

test('a body has the same id whenever it is posted', async (t) => {
  const receiver = await receive(t, answer(204));
  for (let i = 0; i < 2; i++) {
    const poster = post(t, receiver.url);
    poster.post('one');
    await poster.figures({ delivered: 1 });
    await poster.stop();
  }
  const [first, second] = receiver.received.map(({ headers }) => headers['x-benchledger-delivery']);
  assert.equal(first, second);
});

test('a body that grows old is given up, and the next one has its turn', async (t) => {
  const receiver = await receive(t, (response, request) => answer(500)(response));
  const poster = post(t, receiver.url, { ...FAST, give_up_ms: 500 });
  poster.post('one');
  poster.post('two');
  const figures = await poster.figures({ dropped: 2, delivered: 0, queued: 0 });
  assert.ok(figures.failed >= 4);
  assert.equal(receiver.received.at(-1).body, '"two"');
  await poster.stop();
  assert.equal(poster.log.match(/given up, a body was dropped/g).length, 2);
});

test('a full queue drops the oldest that is not on its way, without waiting', async (t) => {
  let release;
  const receiver = await receive(t, (response, request, n) => {
    if (n === 1) release = () => answer(200)(response);
    else answer(200)(response);
  });
  const poster = post(t, receiver.url, { report_ms: 200 });
  poster.post('held');
  await until(() => release, () => poster.log);
  assert.ok((await poster.ask('fill 1500 10')).ms < 1000);
  await poster.figures({ queued: 1000, dropped: 501 });
  await poster.ask('fill 1 5000000'); /* larger than all that may wait */
  await poster.figures({ queued: 1000, dropped: 502 });
  release();
  await poster.figures({ delivered: 1000, queued: 0, dropped: 502 });
  assert.deepEqual(receiver.received.slice(0, 2).map(({ body }) => body.trim()), ['"held"', '501']);
  assert.equal(receiver.received.at(-1).body.trim(), '1499');
  await until(() => poster.log.includes('no room'), () => poster.log);
  assert.equal([...poster.log.matchAll(/no room.*count=(\d+)/g)].reduce((sum, found) => sum + Number(found[1]), 0), 502);
  assert.ok(poster.log.match(/no room/g).length < 5);
});

test('bodies that wait are bounded by bytes, too', async (t) => {
  const receiver = await receive(t, () => {});
  const poster = post(t, receiver.url, {});
  await poster.ask('fill 100 100000');
  await poster.figures({ queued: 41, dropped: 59 });
  await poster.stop(); /* which also reports what was not reported yet */
  assert.equal([...poster.log.matchAll(/no room.*count=(\d+)/g)].reduce((sum, found) => sum + Number(found[1]), 0), 59);
  assert.match(poster.log, /not everything was delivered .*count=41\n/);
});

test('stopping in mid-transfer takes less than a second, and says how much was left', async (t) => {
  for (const behaviour of ['hangs', 'trickles']) {
    const receiver = await receive(t, (response) => {
      if (behaviour === 'hangs') return;
      response.writeHead(200);
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    });
    const poster = post(t, receiver.url, {});
    poster.post('one');
    poster.post('two');
    poster.post('three');
    await until(() => receiver.received.length, () => poster.log);
    const ms = await poster.stop();
    assert.ok(ms < 1000, `${behaviour}: ${ms}`);
    assert.equal(poster.log.match(/\n/g).length, 1);
    assert.match(poster.log, /stopped, not everything was delivered to=http:\/\/127\.0\.0\.1 count=3\n/);
  }
});

test('stopping while a connection is not accepted, and while it waits, takes less than a second', async (t) => {
  const full = net.createServer().listen(0, '127.0.0.1', 0); /* one that nobody serves */
  await once(full, 'listening');
  t.after(() => full.close());
  const gone = await receive(t, answer(200));
  await gone.close();
  for (const url of [`http://127.0.0.1:${full.address().port}/`, 'http://192.0.2.1/', gone.url]) {
    const poster = post(t, url, { base_ms: 60_000, ceiling_ms: 60_000 });
    poster.post('one');
    await sleep(300);
    assert.ok(await poster.stop() < 1000, url);
  }
});

test('what was posted just before the end still goes out', async (t) => {
  const receiver = await receive(t, answer(200));
  const poster = post(t, receiver.url);
  poster.post('last words');
  await poster.stop();
  assert.equal(receiver.received.length, 1);
  assert.equal(poster.log, '');
});

test('its connections are not handed down to children', async (t) => {
  const receiver = await receive(t, () => {});
  const poster = post(t, receiver.url, {});
  poster.post('x');
  await until(() => receiver.received.length, () => poster.log);
  const inodes = readFileSync(`/proc/${poster.pid}/net/tcp`, 'utf8').split('\n').map((line) => line.trim().split(/ +/)[9]);
  const connections = readdirSync(`/proc/${poster.pid}/fd`).filter((fd) => {
    const found = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${poster.pid}/fd/${fd}`));
    return found && inodes.includes(found[1]);
  });
  assert.equal(connections.length, 1);
  const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/${poster.pid}/fdinfo/${connections[0]}`, 'utf8'))[1];
  assert.ok(parseInt(flags, 8) & 0o2000000, flags);
  await poster.stop();
});

test('a password in the URL is used, and shows nowhere', async (t) => {
  const receiver = await receive(t, (response, request, n) => answer(n === 1 ? 500 : 200)(response));
  const poster = post(t, receiver.url.replace('//', '//user:hushhush@'));
  poster.post('x');
  await poster.figures({ delivered: 1, failed: 1 });
  assert.equal(receiver.received[0].headers.authorization, `Basic ${btoa('user:hushhush')}`);
  assert.ok(!poster.log.includes('hush'));
  assert.ok(!poster.log.includes('user'));
});

test('a certificate that nobody vouches for is refused before anything is sent', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { certificate, key } = makeCertificates(folder);
  let requests = 0;
  const server = https.createServer({ cert: readFileSync(certificate), key: readFileSync(key) },
    (request, response) => { requests++; response.end(); });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const poster = post(t, `https://localhost:${server.address().port}/`);
  poster.post('x');
  await until(async () => (await poster.ask('figures')).failed >= 2, () => poster.log);
  assert.match(poster.log, /to=https:\/\/localhost .*error="SSL peer certificate/);
  assert.equal(requests, 0);
});

test('serve refuses a wrong webhook, at its start and when asked to check', async () => {
  const rows = [
    ['ftp://example.org/', SECRET, /webhook_url: is no http or https URL/],
    ['example.org', SECRET, /webhook_url: is no http or https URL/],
    ['file:///etc/passwd', SECRET, /webhook_url: /],
    ['https://', SECRET, /webhook_url: /],
    ['https://example.org/', '', /webhook_secret: has less than 16 characters/],
    ['https://example.org/', '123456789012345', /webhook_secret: has less than 16 characters/],
    ['https://user:hushhush@example.org:bad/', SECRET, /webhook_url: /],
  ];
  for (const [url, secret, expected] of rows)
    for (const check of [['--check-config'], []]) {
      const ended = await command(['serve', '--listen=127.0.0.1:0', `--webhook-url=${url}`, ...check],
        { env: secret ? { BENCHLEDGER_WEBHOOK_SECRET: secret } : {} });
      assert.equal(ended.code, 2, `${url}: ${ended.stderr}`);
      assert.match(ended.stderr, expected);
      assert.ok(!(ended.stderr + ended.stdout).includes('hush'));
      assert.ok(!secret || !ended.stderr.includes(secret));
    }
  const good = await command(['serve', '--check-config', '--webhook-url=https://user:hushhush@example.org/'],
    { env: { BENCHLEDGER_WEBHOOK_SECRET: SECRET } });
  assert.equal(good.code, 0, good.stderr);
  assert.ok(!(good.stdout + good.stderr).includes('hush'));
  assert.ok(!good.stdout.includes(SECRET));
  for (const [url, shown] of [['https://user:hushhush@example.org:8443/', 'https://example.org'],
    ['https://chat.example/hooks/hushhush', 'https://chat.example'], ['http://chat.example?key=hushhush', 'http://chat.example'],
    ['https://chat.example#hushhush', 'https://chat.example'], ['https://a:hushhush@[::1]:9/x', 'https://[::1]']]) {
    const { code, stdout, stderr } = await command(['serve', '--check-config', `--webhook-url=${url}`],
      { env: { BENCHLEDGER_WEBHOOK_SECRET: SECRET } });
    assert.equal(code, 0, stderr);
    assert.ok(stdout.includes(`; webhook_url: ${shown}, the rest is not shown\n`), stdout);
    assert.ok(!(stdout + stderr).includes('hush'));
  }
});

test('serve starts and stops with a webhook', async (t) => {
  const service = await startService(t, { config: { webhook_url: 'http://127.0.0.1:9/' },
    env: { BENCHLEDGER_WEBHOOK_SECRET: SECRET } });
  assert.deepEqual(await service.stop(), { code: 0, signal: null }, service.log);
});
