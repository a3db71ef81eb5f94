// Every limit of spec 04 that stands before or around a body.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { makeRun, seal } from '../support/run.mjs';
import { BINARY, raw, sleep, startService } from '../support/service.mjs';

const LIMIT = 4 * 1024 * 1024;
const refused = (answer, status, code) => {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.body.code, code);
  return answer.body;
};

/** Posts with node:http, writing all of BODY whatever comes; resolves with the answer. */
function postRaw(service, body, { headers = {}, step = 65536, pause = 0 } = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request({ port: service.port, host: '127.0.0.1', method: 'POST',
      path: '/api/bench/submit', headers: { 'content-type': 'application/json', ...headers } });
    request.on('response', (response) => {
      let text = '';
      response.on('data', (data) => { text += data; });
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers,
        body: JSON.parse(text) }));
      response.on('error', reject);
    });
    request.on('error', reject);
    (async () => {
      for (let at = 0; at < body.length; at += step) {
        if (!request.write(body.subarray(at, at + step)))
          await new Promise((wake) => request.once('drain', wake));
        if (pause) await sleep(pause);
      }
      request.end();
    })();
  });
}

test('a body of 4 MiB is taken, one byte more is 413 that clients receive', async (t) => {
  const service = await startService(t);
  const base = seal(makeRun({ id: 'large-run-0001' }), await service.nonce());
  const build = (size) => {
    const run = makeRun({ id: 'large-run-0001', pad: 1 });
    const shell = JSON.stringify(seal(run, base.nonce)).length - 1;
    return Buffer.from(JSON.stringify(seal({ ...run, padding: 'x'.repeat(size - shell) }, base.nonce)));
  };
  const over = build(LIMIT + 1);
  assert.equal(over.length, LIMIT + 1);

  await t.test('by fetch, ten times', async () => {
    for (let i = 0; i < 10; i++)
      refused(await service.post(over), 413, 'payload-too-large');
  });
  await t.test('by node:http with a length, and chunked', async () => {
    for (let i = 0; i < 5; i++) {
      refused(await postRaw(service, over, { headers: { 'content-length': over.length } }), 413,
        'payload-too-large');
      const chunked = await postRaw(service, over);
      refused(chunked, 413, 'payload-too-large');
      assert.equal(chunked.headers.connection, 'close');
    }
  });
  await t.test('by a browser that sends slowly to the end before it looks', async () => {
    refused(await postRaw(service, over, { headers: { 'content-length': over.length },
      step: 256 * 1024, pause: 30 }), 413, 'payload-too-large');
  });
  await t.test('one that asks first is told at once', async () => {
    const answer = await raw(service.port, ['POST /api/bench/submit HTTP/1.1\r\nHost: x\r\n',
      'Content-Type: application/json\r\nExpect: 100-continue\r\n',
      `Content-Length: ${LIMIT + 1}\r\n\r\n`]);
    assert.match(answer.text, /^HTTP\/1.1 413 /);
    assert.ok(answer.closed);
  });
  await t.test('beyond what is drained the connection closes', async () => {
    const part = Buffer.alloc(1 << 20, 'x');
    const answer = await raw(service.port, ['POST /api/bench/submit HTTP/1.1\r\nHost: x\r\n',
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
      ...Array.from({ length: 40 }, () => [`100000\r\n`, part, '\r\n']).flat()], { timeout: 10000 });
    assert.ok(answer.closed);
    assert.ok(!answer.text.includes('200 OK'));
  });
  await t.test('4 MiB exactly is a run', async () => {
    const exact = build(LIMIT);
    assert.equal(exact.length, LIMIT);
    assert.equal((await service.post(exact)).status, 200);
  });
});

test('a gzip bomb is 413 and costs no memory', async (t) => {
  const service = await startService(t);
  const bomb = gzipSync(Buffer.alloc(200 << 20, ' '));
  const answers = await Promise.all(Array.from({ length: 8 }, () =>
    service.post(bomb, { headers: { 'content-encoding': 'gzip' } })));
  for (const answer of answers) refused(answer, 413, 'payload-too-large');
  const noise = gzipSync(Buffer.alloc(LIMIT + 1, ' '));
  refused(await service.post(noise, { headers: { 'content-encoding': 'gzip' } }), 413,
    'payload-too-large');
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${service.child.pid}/status`, 'utf8'));
  if (!readFileSync(BINARY).includes('__asan_init')) assert.ok(Number(peak[1]) < 150000, `peak ${peak[1]} KiB`);
});

test('types and encodings that are not known are 415', async (t) => {
  const service = await startService(t);
  for (const headers of [{ 'content-type': 'text/plain' }, { 'content-encoding': 'br' },
    { 'content-type': 'application/jsonp' }, { 'content-encoding': 'gzip, gzip' }]) {
    const answer = await service.post('{}', { headers });
    refused(answer, 415, 'unsupported-media-type');
    assert.equal(answer.headers.get('connection'), 'close');
  }
  refused(await service.post(Buffer.alloc(LIMIT + 1), { headers: { 'content-type': 'x/y' } }), 413,
    'payload-too-large');
  for (const type of ['application/json; charset=utf-8', 'Application/JSON'])
    refused(await service.post('{', { headers: { 'content-type': type } }), 400, 'invalid-json');
});

test('two readings of where a body ends are refused and closed', async (t) => {
  const service = await startService(t);
  const begin = 'POST /api/bench/submit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
  for (const framing of ['Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}',
    'Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}',
    'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    'Content-Length : 2\r\n\r\n{}', 'Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
    'Content-Length: 2\r\n 3\r\n\r\n{}', 'Content-Length: +2\r\n\r\n{}', 'X Y: 1\r\n\r\n',
    'Content-Length:\r\n\r\n{}', 'Content-Length: 2, 2\r\n\r\n{}',
    'Content-Length: -1\r\n\r\n', 'Content-Length: 2x\r\n\r\n{}',
    'Content-Length: 99999999999999999999999\r\n\r\n{}']) {
    const answer = await raw(service.port,
      [begin, framing, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n']);
    assert.ok(answer.closed, framing);
    assert.match(answer.text, /^HTTP\/1\.[01] 4\d\d /, framing);
    /* What follows is never read as a request of its own. */
    for (const [status] of answer.text.matchAll(/HTTP\/1\.[01] \d+/g))
      assert.match(status, / (400|413)$/, framing + answer.text);
  }
  for (const codings of ['Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n',
    'Content-Encoding: identity\r\nContent-Encoding: gzip\r\n']) {
    const answer = await raw(service.port, [begin, codings, 'Content-Length: 2\r\n\r\n{}']);
    assert.match(answer.text, /^HTTP\/1.1 400 [^]*"code":"bad-request"/);
    assert.ok(answer.closed);
  }
  const doubled = await raw(service.port, [begin, 'Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}']);
  assert.match(doubled.text, /^HTTP\/1.1 400 [^]*"code":"bad-request"/);
});

test('a header of 40 KB is refused in the usual form, one of 20 KB is served', async (t) => {
  const service = await startService(t);
  const get = (line, fields = '') => raw(service.port,
    [`GET ${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${fields}\r\n`]);
  const pad = (size) => 'x'.repeat(size);
  for (const answer of [await get(`/healthz?a=${pad(40000)}`), await get(`/${pad(40000)}`),
    await get('/healthz', `X-Pad: ${pad(40000)}\r\n`), await get('/healthz', `X-Pad: ${pad(400)}\r\n`.repeat(90))]) {
    assert.match(answer.text, /^HTTP\/1.1 400 /);
    assert.match(answer.text, /\r\nX-Request-Id: /);
    assert.match(answer.text, /\r\nX-Content-Type-Options: nosniff\r\n/);
    assert.match(answer.text, /"code":"bad-request"/);
    assert.ok(answer.closed);
  }
  assert.match((await get('/healthz', `X-Pad: ${pad(20000)}\r\n`)).text, /^HTTP\/1.1 200 /);
  assert.match((await get(`/healthz?a=${pad(20000)}`)).text, /^HTTP\/1.1 200 /);
});

test('the 21st attempt of an hour is 429, by client address', async (t) => {
  const service = await startService(t, {
    config: { rate_limit: 20, trusted_proxies: '127.0.0.0/8,10.0.0.0/8' },
  });
  const from = (address) => ({ headers: { 'x-forwarded-for': address } });
  for (let i = 0; i < 20; i++) /* refused attempts count */
    refused(await service.post('{', from('198.51.100.7')), 400, 'invalid-json');
  for (let i = 0; i < 5; i++) {
    const answer = await service.post('{', from('198.51.100.7'));
    const body = refused(answer, 429, 'rate-limited');
    assert.ok(body.retryAfterSec > 3400 && body.retryAfterSec <= 3660, `${body.retryAfterSec}`);
    assert.equal(answer.headers.get('retry-after'), String(body.retryAfterSec));
  }
  /* Also before a large body, drained. */
  refused(await service.post(Buffer.alloc(LIMIT), from('198.51.100.7')), 429, 'rate-limited');
  /* A forged left part does not help; other clients and other endpoints are not touched. */
  refused(await service.post('{', from('203.0.113.1, 198.51.100.7, 10.1.2.3')), 429, 'rate-limited');
  refused(await service.post('{', from('198.51.100.8')), 400, 'invalid-json');
  refused(await service.post('{', { ...from('198.51.100.7'), place: '/api/bench/validate' }), 400,
    'invalid-json');
  assert.equal((await service.json('/healthz')).status, 200);
  /* IPv6 counts per /64. */
  for (let i = 0; i < 20; i++)
    refused(await service.post('{', from(`[2001:db8::${i}]:443`)), 400, 'invalid-json');
  refused(await service.post('{', from('2001:db8::ffff')), 429, 'rate-limited');
  refused(await service.post('{', from('2001:db8:0:1::1')), 400, 'invalid-json');
  /* Repeated headers are one list. */
  const answer = await raw(service.port, ['POST /api/bench/submit HTTP/1.1\r\nHost: x\r\n',
    'X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: 198.51.100.7\r\nConnection: close\r\n',
    'Content-Type: application/json\r\nContent-Length: 1\r\n\r\n{']);
  assert.match(answer.text, /^HTTP\/1.1 429 /);
});

test('an untrusted peer cannot choose its address', async (t) => {
  const service = await startService(t, { config: { rate_limit: 2 } });
  for (let i = 0; i < 3; i++) {
    const answer = await service.post('{', { headers: { 'x-forwarded-for': `203.0.113.${i}` } });
    assert.equal(answer.status, i < 2 ? 400 : 429);
  }
});

test('validate has its own budget, one at a time', async (t) => {
  const service = await startService(t, { config: { rate_limit: 20, validate_rate_limit: 3 } });
  const place = '/api/bench/validate';
  const slow = raw(service.port, [`POST ${place} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`,
    'Content-Type: application/json\r\nContent-Length: 1\r\n\r\n', 700, '{']);
  await sleep(200);
  const second = await service.post('{', { place });
  assert.equal(refused(second, 429, 'rate-limited').retryAfterSec, 1);
  assert.match((await slow).text, /^HTTP\/1.1 400 /);
  refused(await service.post('{', { place }), 400, 'invalid-json');
  refused(await service.post('{', { place }), 400, 'invalid-json');
  refused(await service.post('{', { place }), 429, 'rate-limited');
  refused(await service.post('{'), 400, 'invalid-json');
  const lifted = await startService(t, { config: { rate_limit: 0, validate_rate_limit: 1 } });
  for (let i = 0; i < 3; i++) refused(await lifted.post('{', { place }), 400, 'invalid-json');
});

test('dripping headers, slow bodies and idle connections are dropped', async (t) => {
  const service = await startService(t, {
    config: { idle_timeout_s: 2, header_timeout_s: 3, min_body_rate: 1000, body_rate_window_s: 2 },
  });
  const drip = (text, ms) => [...text].flatMap((letter) => [letter, ms]);
  const [idle, dripping, second, slow, steady] = await Promise.all([
    raw(service.port, [], { timeout: 12000 }),
    raw(service.port, drip('GET /healthz HTTP/1.1\r\nX-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaa', 300),
      { timeout: 15000 }),
    raw(service.port, ['GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
      ...drip('GET /healthz HTTP/1.1\r\nX-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 300)],
    { timeout: 15000 }),
    raw(service.port, ['POST /api/bench/submit HTTP/1.1\r\nHost: x\r\n',
      'Content-Type: application/json\r\nContent-Length: 4000\r\n\r\n', ...drip('x'.repeat(60), 200)],
    { timeout: 15000 }),
    raw(service.port, ['POST /api/bench/submit HTTP/1.1\r\nHost: x\r\nConnection: close\r\n',
      'Content-Type: application/json\r\nContent-Length: 12000\r\n\r\n',
      ...Array.from({ length: 20 }, () => ['x'.repeat(600), 200]).flat()], { timeout: 15000 }),
  ]);
  assert.ok(idle.closed && idle.ms < 5000, `idle: ${idle.ms}`);
  assert.ok(dripping.closed && dripping.ms < 5000 && !dripping.text, `drip: ${dripping.ms}`);
  assert.ok(second.closed && second.ms < 8000, `second: ${second.ms}`);
  assert.equal(second.text.match(/200 OK/g).length, 1);
  assert.ok(slow.closed && slow.ms < 6000 && !slow.text, `slow: ${slow.ms} ${slow.text}`);
  assert.match(steady.text, /^HTTP\/1.1 400 /); /* slow enough to notice, fast enough to stay */
});

test('bodies on their way are bounded together', async (t) => {
  const service = await startService(t, { config: { body_memory: 150000 } });
  const slow = raw(service.port, ['POST /api/bench/submit HTTP/1.1\r\nHost: x\r\n',
    'Content-Type: application/json\r\nContent-Length: 100001\r\nConnection: close\r\n\r\n',
    'x'.repeat(100000), 700, 'x']);
  await sleep(300);
  const busy = await service.post('x'.repeat(100000));
  assert.ok(refused(busy, 429, 'busy').retryAfterSec > 0);
  refused(await service.post('x'.repeat(20000)), 400, 'invalid-json');
  assert.match((await slow).text, /^HTTP\/1.1 400 /);
  for (let i = 0; i < 5; i++) refused(await service.post('x'.repeat(100000)), 400, 'invalid-json');
  assert.equal((await service.submit(makeRun())).status, 200);
  refused(await service.post('x'.repeat(140000)), 400, 'invalid-json');
});

test('connections in all and per address are limited', async (t) => {
  const outside = Object.values(os.networkInterfaces()).flat()
    .find((entry) => entry.family === 'IPv4' && !entry.internal)?.address;
  const service = await startService(t, {
    listen: '0.0.0.0:0', config: { max_connections: 12, max_connections_per_address: 3 },
  });
  const open = (count, host) => Promise.all(Array.from({ length: count }, async () => {
    const socket = net.connect(service.port, host);
    socket.on('error', () => {});
    const state = { socket, closed: false };
    socket.on('close', () => { state.closed = true; });
    await sleep(100);
    return state;
  }));
  const held = await open(20, '127.0.0.1'); /* loopback does not count per address */
  await sleep(300);
  assert.equal(held.filter((state) => !state.closed).length, 12);
  for (const state of held) state.socket.destroy();
  await sleep(200);
  assert.equal((await service.json('/healthz')).status, 200);
  await t.test('per address', { skip: !outside && 'this machine has no address but loopback' }, async () => {
    const mine = await open(6, outside);
    await sleep(300);
    assert.equal(mine.filter((state) => !state.closed).length, 3);
    for (const state of mine) state.socket.destroy();
    await sleep(200);
    assert.match((await raw(service.port, ['GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
      { host: outside })).text, /200 OK/);
  });
});

test('boards that have to be made for one address are counted, kept ones and the whole board are not', async (t) => {
  const service = await startService(t, { config: { rate_limit: 20, view_rate_limit: 3 } });
  const page = (place) => service.fetch(place);
  for (const place of ['/?browser=a', '/?browser=b', '/api/bench/leaderboard?browser=c'])
    assert.equal((await page(place)).status, 200, place);
  for (const place of ['/?browser=d', '/?rows=all', '/?sort=-submissions', '/row?browser=a']) {
    const answer = await page(place);
    assert.equal(answer.status, 429, place);
    assert.ok(Number(answer.headers.get('retry-after')) > 0, place);
    assert.match(answer.headers.get('content-type'), /^text\/html/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  }
  const data = await service.json('/api/bench/leaderboard?browser=e');
  refused(data, 429, 'rate-limited');
  assert.equal(data.body.retryAfterSec, Number(data.headers.get('retry-after')));
  for (const place of ['/?browser=a', '/?browser=b', '/', '/api/bench/leaderboard',
    '/api/bench/leaderboard?format=csv', '/api/bench/leaderboard?browser=c'])
    assert.equal((await page(place)).status, 200, place);
  const lifted = await startService(t, { config: { rate_limit: 0, view_rate_limit: 1 } });
  for (const browser of ['a', 'b', 'c'])
    assert.equal((await lifted.fetch(`/?browser=${browser}`)).status, 200);
});
