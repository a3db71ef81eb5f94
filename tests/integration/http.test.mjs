// The HTTP surface: routes, methods, CORS, caching, files, health, OpenAPI.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { makeRun, seal } from '../support/run.mjs';
import { raw, startService } from '../support/service.mjs';

const head = (text) => text.slice(0, text.indexOf('\r\n\r\n'));

test('routes, methods and headers', async (t) => {
  const service = await startService(t);

  await t.test('unknown paths are 404, wrong methods 405 with Allow', async () => {
    for (const place of ['//', '/api', '/api/bench/submit/', '/runs/2026/01/../x.json', '/%2e%2e/x',
      '/index/segments/../manifest.json', '/runs/2026/13/x.json', '/ledger/2026-01-01.json']) {
      const answer = await raw(service.port,
        [`GET ${place} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`]);
      assert.match(answer.text, /^HTTP\/1.1 404 /, place);
      assert.match(answer.text, /"code":"not-found"/);
    }
    for (const [method, place, allow] of [['GET', '/api/bench/submit', 'POST, OPTIONS'],
      ['HEAD', '/api/bench/validate', 'POST, OPTIONS'], ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
      ['DELETE', '/api/bench/leaderboard', 'GET, HEAD, OPTIONS'],
      ['PUT', '/api/bench/nonce', 'GET, HEAD, OPTIONS']]) {
      const answer = await service.fetch(place, { method });
      assert.equal(answer.status, 405, place);
      assert.equal(answer.headers.get('allow'), allow);
      if (method !== 'HEAD') assert.equal((await answer.json()).code, 'method-not-allowed');
    }
  });

  await t.test('a browser that goes astray is told in a page, under the policy of pages', async () => {
    const answer = await service.fetch('/nowhere', { headers: { accept: 'text/html,*/*;q=0.8' } });
    assert.equal(answer.status, 404);
    assert.match(answer.headers.get('content-type'), /^text\/html/);
    assert.match(answer.headers.get('content-security-policy'), /style-src 'self'/);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.match(await answer.text(), /nothing at this address/);
  });

  await t.test('a query that is no UTF-8 is refused', async () => {
    for (const value of ['%FF', '%C3', 'a%ED%A0', '%C0%AF']) {
      assert.equal((await service.json(`/api/bench/leaderboard?browser=${value}`)).body.code, 'bad-request');
      for (const place of ['/', '/row'])
        assert.equal((await service.fetch(`${place}?q=${value}`)).status, 400, value);
    }
    assert.equal((await service.fetch('/?q=%C3%A9')).status, 200);
  });

  await t.test('a NUL in the target is refused, not cut at', async () => {
    for (const place of ['/healthz%00', '/healthz%00/evil', '/api/bench/leaderboard?browser=Chrome%00x']) {
      const answer = await service.json(place);
      assert.equal(answer.status, 400, place);
      assert.equal(answer.body.code, 'bad-request');
    }
  });

  await t.test('HEAD is GET without a body', async () => {
    for (const place of ['/api/bench/leaderboard', '/healthz', '/openapi.json']) {
      const [get, without] = await Promise.all([service.fetch(place),
        service.fetch(place, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } })]);
      assert.equal(without.status, 200);
      assert.equal(await without.text(), '');
      assert.equal(Number(without.headers.get('content-length')), (await get.text()).length);
    }
  });

  await t.test('every answer has an id and nosniff; a sane id is given back', async () => {
    for (const place of ['/healthz', '/nowhere', '/api/bench/submit', '/api/bench/leaderboard']) {
      const answer = await service.fetch(place);
      await answer.arrayBuffer();
      assert.match(answer.headers.get('x-request-id'), /^[0-9a-f]{16}$/);
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    }
    for (const [id, given] of [['Abc.1_2-3', true], ['x'.repeat(64), true], ['x'.repeat(65), false],
      ['a b', false], ['a;b', false]]) {
      const answer = await service.fetch('/healthz', { headers: { 'x-request-id': id } });
      assert.equal(answer.headers.get('x-request-id') === id, given, id);
    }
  });

  await t.test('nothing from a client breaks a log line', async () => {
    await service.stop();
    await service.restart({ config: { log_level: 'debug' } });
    await raw(service.port, ['GET /a%0a2026%20error%20forged%1b[2J"\u00e9 HTTP/1.1\r\nHost: x\r\n',
      'Connection: close\r\n\r\n']);
    assert.ok(!/^2026 error forged/m.test(service.log));
    assert.ok(!service.log.includes('\x1b'));
    assert.match(service.log, /\\x0a2026 error forged\\x1b/);
  });

  await t.test('health, readiness, nonce', async () => {
    assert.deepEqual((await service.json('/healthz')).body, { ok: true });
    assert.deepEqual((await service.json('/readyz')).body, { ok: true, reasons: [], warnings: [] });
    const nonce = await service.fetch('/api/bench/nonce');
    assert.equal(nonce.headers.get('cache-control'), 'no-store');
    const { nonce: text } = await nonce.json();
    assert.match(text, /^dev\.\d{13}\.[0-9a-f]{32}$/);
    assert.notEqual(text, await service.nonce());
  });
});

test('CORS follows allowed_origins', async (t) => {
  const open = await startService(t);
  const closed = await startService(t, {
    config: { allowed_origins: 'https://a.example,https://b.example:8443' },
  });
  const none = await startService(t, { config: { allowed_origins: 'none' } });
  const preflight = (service, origin, place = '/api/bench/submit') => service.fetch(place, {
    method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type, content-encoding' },
  });
  const allowed = (answer) => answer.headers.get('access-control-allow-origin');

  let answer = await preflight(open, 'https://any.example');
  assert.equal(answer.status, 204);
  assert.equal(allowed(answer), '*');
  assert.equal(answer.headers.get('access-control-allow-methods'), 'POST, OPTIONS');
  assert.equal(answer.headers.get('access-control-allow-headers'),
    'Content-Type, Content-Encoding, X-Withdraw-SHA256');
  assert.ok(Number(answer.headers.get('access-control-max-age')) > 0);

  answer = await preflight(closed, 'https://b.example:8443');
  assert.equal(allowed(answer), 'https://b.example:8443');
  assert.match(answer.headers.get('vary'), /Origin/);
  for (const origin of ['https://c.example', 'null', 'https://a.example.evil', 'http://a.example'])
    assert.equal(allowed(await preflight(closed, origin)), null);
  assert.equal(allowed(await preflight(none, 'https://a.example')), null);

  /* Errors carry the headers too. */
  answer = await closed.post('{', { headers: { origin: 'https://a.example' } });
  assert.equal(answer.status, 400);
  assert.equal(allowed(answer), 'https://a.example');
  assert.match(answer.headers.get('vary'), /Origin/);
  assert.equal(answer.headers.get('access-control-expose-headers'), 'Retry-After, ETag, X-Request-Id');
  answer = await closed.fetch('/api/bench/submit', { headers: { origin: 'https://a.example' } });
  assert.equal(answer.status, 405);
  assert.equal(allowed(answer), 'https://a.example');

  /* What is public is public to every page. */
  for (const place of ['/api/bench/leaderboard', '/api/bench/key', '/index/summary.json', '/runs/2026/01/x.json',
    '/api/bench/runs/x', '/openapi.json'])
    assert.equal(allowed(await none.fetch(place, { headers: { origin: 'https://c.example' } })), '*');
  assert.equal(allowed(await open.fetch('/healthz')), null);
});

test('board and files: ETag, 304, gzip, filters, CSV', async (t) => {
  const service = await startService(t);
  const runs = [['Chrome', 1], ['Chrome', 2], ['Firefox', 3]].map(([browser, seed]) =>
    makeRun({ id: `board-run-${seed}-${browser}`, seed, browser }));
  for (const run of runs) assert.equal((await service.submit(run)).status, 200);
  const plain = { headers: { 'accept-encoding': 'identity' } };

  await t.test('the board is stable until the index changes', async () => {
    const first = await service.fetch('/api/bench/leaderboard', plain);
    assert.equal(first.headers.get('cache-control'),
      'public, max-age=60, stale-while-revalidate=300');
    const tag = first.headers.get('etag');
    const text = await first.text();
    assert.equal(JSON.parse(text).runs, 3);
    for (const match of [tag, `"other", W/${tag}`, '*', `"a*, *", ${tag}`]) {
      const again = await service.fetch('/api/bench/leaderboard',
        { headers: { 'if-none-match': match, 'accept-encoding': 'identity' } });
      assert.equal(again.status, 304);
      assert.equal(again.headers.get('etag'), tag);
      assert.ok(again.headers.get('cache-control'));
      assert.equal(await again.text(), '');
    }
    for (const match of ['"x"', '"a*", *', `"a${tag.slice(1)}`, tag.slice(0, -1), `x, ${tag}`, '"a, *"']) {
      const other = await service.fetch('/api/bench/leaderboard',
        { headers: { 'if-none-match': match, 'accept-encoding': 'identity' } });
      assert.equal(other.status, 200, match);
      await other.arrayBuffer();
    }
    assert.equal((await service.submit(makeRun({ id: 'board-run-four', seed: 4 }))).status, 200);
    const changed = await service.fetch('/api/bench/leaderboard', {
      headers: { 'if-none-match': tag, 'accept-encoding': 'identity' },
    });
    assert.equal(changed.status, 200);
    assert.equal((await changed.json()).runs, 4);
    assert.notEqual(changed.headers.get('etag'), tag);
  });

  await t.test('gzip is the same bytes, negotiated', async () => {
    const get = (encoding) => raw(service.port, [
      `GET /api/bench/leaderboard HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ${encoding}\r\n`,
      'Connection: close\r\n\r\n']);
    const packed = await get('br;q=1, gzip;q=0.5');
    assert.match(head(packed.text), /Content-Encoding: gzip/);
    assert.match(head(packed.text), /ETag: W\/"[0-9a-f]+"/);
    assert.match(head(packed.text), /Vary: Accept-Encoding/);
    const body = Buffer.from(packed.text.slice(packed.text.indexOf('\r\n\r\n') + 4), 'latin1');
    const expected = await (await service.fetch('/api/bench/leaderboard', plain)).text();
    assert.equal(gunzipSync(body).toString(), expected);
    for (const encoding of ['identity', 'gzip;q=0', 'br', 'gzip2'])
      assert.ok(!/Content-Encoding/.test(head((await get(encoding)).text)), encoding);
    assert.match(head((await get('*')).text), /Content-Encoding: gzip/);
  });

  await t.test('filters select before grouping, csv is another form', async () => {
    const firefox = (await service.json('/api/bench/leaderboard?browser=Firefox')).body;
    assert.equal(firefox.runs, 1);
    assert.equal(firefox.entries, 4);
    assert.ok(firefox.rows.every((row) => row.submissions === 1));
    const some = (await service.json(
      '/api/bench/leaderboard?runtimeId=webllm&workloadId=chat-pp128-tg128&browser=')).body;
    assert.equal(some.rows.length, 1);
    assert.equal(some.rows[0].submissions, 4);
    assert.equal((await service.json('/api/bench/leaderboard?protocol=none')).body.rows.length, 0);
    const escaped = encodeURIComponent(some.rows[0].deviceSubclass);
    assert.ok((await service.json(`/api/bench/leaderboard?deviceSubclass=${escaped}`)).body.rows.length);
    const csv = await service.fetch('/api/bench/leaderboard?format=csv&runtimeId=webllm');
    assert.match(csv.headers.get('content-type'), /^text\/csv/);
    const lines = (await csv.text()).trim().split('\n');
    assert.match(lines[0], /^protocol,deviceClass,/);
    assert.ok(lines.length > 1);
    assert.equal((await service.json('/api/bench/leaderboard?format=xml')).status, 400);
    for (let i = 0; i < 200; i++) /* more filters than are kept */
      assert.equal((await service.json(`/api/bench/leaderboard?browser=b${i}`)).body.runs, 0);
    assert.equal((await service.json('/api/bench/leaderboard?browser=Firefox')).body.runs, 1);
  });

  await t.test('files are the committed bytes under their blob id', async () => {
    const names = service.files().filter((name) => !name.endsWith('.md'));
    assert.ok(names.length >= 8, names);
    for (const name of names) {
      const answer = await service.fetch(`/${name}`, plain);
      assert.equal(answer.status, 200, name);
      const bytes = Buffer.from(await answer.arrayBuffer());
      assert.ok(bytes.equals(service.file(name)), name);
      const id = execFileSync('git', ['--git-dir', service.store, 'rev-parse', `HEAD:${name}`],
        { encoding: 'utf8' }).trim();
      assert.equal(answer.headers.get('etag'), `"${id}"`);
      assert.equal(answer.headers.get('access-control-allow-origin'), '*');
      assert.equal(answer.headers.get('cache-control'),
        name.startsWith('runs/') ? 'public, max-age=300' : 'no-cache', name);
      const again = await service.fetch(`/${name}`, { headers: { 'if-none-match': `"${id}"` } });
      assert.equal(again.status, 304);
    }
    assert.equal((await service.fetch('/README.md')).status, 404);
    assert.equal((await service.fetch('/runs/2026/01/nobody.json')).status, 404);
  });

  await t.test('gzip in is taken', async () => {
    const { gzipSync } = await import('node:zlib');
    const run = seal(makeRun({ id: 'packed-run-001', seed: 9 }), await service.nonce());
    const packed = gzipSync(JSON.stringify(run));
    const answer = await service.post(packed, { headers: { 'content-encoding': 'gzip' } });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const broken = Buffer.from(packed);
    broken.fill(7, 20, 40);
    for (const bad of [broken, packed.subarray(0, packed.length - 9), Buffer.from('{}')]) {
      const refusal = await service.post(bad, { headers: { 'content-encoding': 'gzip' } });
      assert.equal(refusal.status, 400);
      assert.equal(refusal.body.code, 'bad-request');
    }
  });
});

test('a ledger day is cached long when it can grow no more', async (t) => {
  const service = await startService(t);
  assert.equal((await service.submit(makeRun({ id: 'ledger-run-001' }))).status, 200);
  const day = (ago) => `ledger/${new Date(Date.now() - ago * 24 * 3600 * 1000).toISOString().slice(0, 10)}.jsonl`;
  const cached = async (name) => (await service.fetch(`/${name}`)).headers.get('cache-control');
  for (const ago of [1, 2]) {
    await service.stop();
    service.replace((git) => {
      const blob = git('rev-parse', `HEAD:${day(ago - 1)}`);
      git('rm', '-q', '--cached', day(ago - 1));
      git('update-index', '--add', '--cacheinfo', `100644,${blob},${day(ago)}`);
    });
    await service.begin();
    assert.equal(await cached(day(ago)), ago === 1 ? 'no-cache' : 'public, max-age=86400');
  }
});

test('OpenAPI lists every route, code and limit', async (t) => {
  const service = await startService(t);
  const { body } = await service.json('/openapi.json');
  assert.equal(body.openapi, '3.1.0');
  const places = Object.keys(body.paths);
  for (const place of ['/api/bench/nonce', '/api/bench/submit', '/api/bench/validate',
    '/api/bench/leaderboard', '/index/summary.json', '/index/manifest.json', '/index/leaderboard.json',
    '/index/segments/{segment}', '/ledger/{day}', '/runs/{year}/{month}/{file}',
    '/quarantine/{year}/{month}/{file}', '/api/bench/runs/{run}', '/healthz', '/readyz',
    '/metrics', '/openapi.json'])
    assert.ok(places.includes(place), place);
  for (const [place, item] of Object.entries(body.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      assert.ok(['get', 'head', 'post'].includes(method));
      assert.ok(operation.summary && Object.keys(operation.responses).length, place);
      const wanted = [...place.matchAll(/{(.*?)}/g)].map((found) => found[1]);
      const given = (operation.parameters ?? []).filter((p) => p.in === 'path').map((p) => p.name);
      assert.deepEqual(given, wanted);
      for (const response of Object.values(operation.responses)) assert.ok(response.description);
    }
    /* What is described answers. */
    const probe = await service.fetch(place.replace('{year}', '2026').replace('{month}', '01')
      .replace('{file}', 'x.json').replace('{segment}', '00001.json')
      .replace('{day}', '2026-01-01.jsonl').replace('{run}', 'some-run-id'));
    const operation = item.get ?? item.post;
    const { status } = probe;
    assert.ok(item.get ? String(status) in operation.responses : status === 405,
      `${place} answered ${status}`);
  }
  const submit = body.paths['/api/bench/submit'].post;
  assert.deepEqual(Object.keys(submit.responses).sort(),
    ['200', '202', '400', '403', '409', '413', '415', '422', '429', '500', '503']);
  assert.deepEqual(submit.parameters.map(({ name, in: place, required }) => [name, place, required]), [['X-Withdraw-SHA256', 'header', false]]);
  const { scheme, type } = body.components.securitySchemes.maintainer;
  assert.deepEqual([type, scheme], ['http', 'bearer']);
  assert.deepEqual(Object.entries(body.paths).filter(([, item]) => item.post?.security).map(([place, item]) => [place, item.post.security]),
    [['/api/bench/review', [{ maintainer: [] }]]]);
  assert.equal(body['x-limits'].max_body, 4194304);
  assert.equal(body['x-limits'].rate_limit, 0);
  assert.ok(body.components.schemas.Error.properties.code.enum.includes('invalid-nonce'));
});
