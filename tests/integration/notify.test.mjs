// The service tells its webhook of quarantined runs, and never waits for it.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { flaggedRun, makeRun } from '../support/review.mjs';
import { sha256 } from '../support/run.mjs';
import { sleep, startService } from '../support/service.mjs';

const SECRET = 'a secret of some length';

/** A receiver whose BEHAVE(response, number) answers; `bodies` are those of requests that verify. */
async function receive(t, behave, port = 0) {
  const bodies = [], ids = [];
  let requests = 0;
  const server = http.createServer((request, response) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const wanted = createHmac('sha256', SECRET)
        .update(`${request.headers['x-benchledger-timestamp']}.${text}`).digest('hex');
      assert.equal(request.headers['x-benchledger-signature'], `sha256=${wanted}`);
      bodies.push(JSON.parse(text));
      ids.push(request.headers['x-benchledger-delivery']);
      behave(response, ++requests);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = () => new Promise((done) => { server.closeAllConnections(); server.close(done); });
  t.after(close);
  return { bodies, ids, close, port: server.address().port };
}

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

const start = (t, port) => startService(t, {
  config: { webhook_url: `http://127.0.0.1:${port}/hook`, public_url: 'https://bench.example' },
  env: { BENCHLEDGER_WEBHOOK_SECRET: SECRET } });
const fine = (response) => response.writeHead(204).end();

async function until(condition, what, ms = 20_000) {
  for (const end = Date.now() + ms; !(await condition()); await sleep(25))
    assert.ok(Date.now() < end, `never: ${what}`);
}

async function submit(service, make, id, seed) {
  const { status, body } = await service.submit(make({ id, seed }));
  assert.equal(status, 200, JSON.stringify(body));
}

const told = (receiver) => receiver.bodies.map(({ runId }) => runId);

test('each quarantined run is told once, in order, and published ones are not', async (t) => {
  const receiver = await receive(t, fine);
  const service = await start(t, receiver.port);
  for (let i = 1; i <= 6; i++) await submit(service, i % 2 ? flaggedRun : makeRun, `some-run-${i}`, i);
  await until(() => receiver.bodies.length >= 3, 'all are told');
  assert.deepEqual(told(receiver), ['some-run-1', 'some-run-3', 'some-run-5']);
  const { submittedAt, ...body } = receiver.bodies[0];
  assert.ok(Date.now() - Date.parse(submittedAt) < 60_000);
  assert.deepEqual(body, { event: 'quarantined', runId: 'some-run-1', path: 'quarantine/2026/01/some-run-1.json',
    url: 'https://bench.example/quarantine/2026/01/some-run-1.json', page: 'https://bench.example/review/some-run-1',
    flags: body.flags, rulesVersion: 2, revision: 1 });
  assert.ok(body.flags.includes('text-chunk-mismatch'));
  await until(async () => /webhook_delivered_total 3\n/.test(await (await service.fetch('/metrics')).text()), 'figures');
  await sleep(300);
  await service.restart();
  await submit(service, flaggedRun, 'some-run-7', 7);
  await until(() => receiver.bodies.length >= 4, 'the next is told');
  assert.deepEqual(told(receiver).slice(3), ['some-run-7'], 'nothing is told twice');
});

for (const [name, behave] of [['answers 500', (response) => response.writeHead(500).end()],
  ['never answers', () => {}]])
  test(`a receiver that ${name} holds up nothing, and hears all when it is well`, { timeout: 120_000 }, async (t) => {
    let well = false;
    const receiver = await receive(t, (response, number) => (well ? fine(response) : behave(response, number)));
    const service = await start(t, receiver.port);
    const quick = [];
    for (let i = 1; i <= 10; i++) {
      const started = performance.now();
      await submit(service, flaggedRun, `some-run-${i}`, i);
      quick.push(performance.now() - started);
    }
    assert.ok(Math.max(...quick) < 10_000, 'no submission waited for its deadline');
    await until(() => receiver.bodies.length > 0, 'it was tried');
    well = true;
    await until(() => new Set(told(receiver)).size === 10, 'all arrive', 60_000);
    const last = [...new Map(receiver.bodies.map((body, at) => [body.runId, at])).keys()];
    assert.deepEqual(last, Array.from({ length: 10 }, (_, i) => `some-run-${i + 1}`), 'in order');
  });

test('a receiver that is down hears what it missed, also after a kill of the service', { timeout: 120_000 }, async (t) => {
  const port = await freePort();
  const service = await start(t, port);
  for (let i = 1; i <= 3; i++) await submit(service, flaggedRun, `some-run-${i}`, i);
  await service.stop('SIGKILL');
  await service.begin();
  await submit(service, flaggedRun, 'some-run-4', 4);
  const receiver = await receive(t, fine, port);
  await until(() => new Set(told(receiver)).size === 4, 'all arrive', 60_000);
  await service.stop();
});

test('what a slow receiver has taken is not told again after a kill, the rest is, with the same ids', async (t) => {
  let well = false;
  const receiver = await receive(t, (response, number) => { if (well || number <= 3) fine(response); });
  const service = await start(t, receiver.port);
  for (let i = 1; i <= 5; i++) await submit(service, flaggedRun, `some-run-${i}`, i);
  await until(() => receiver.bodies.length === 4, 'the fourth hangs');
  const cursor = path.join(service.folder, 'state', 'webhook.seq');
  await until(() => Number(readFileSync(cursor, 'utf8')) === 3, 'the place is remembered while the queue is not empty');
  await service.stop('SIGKILL');
  well = true;
  await service.begin();
  await until(() => receiver.bodies.length === 6, 'the rest is told');
  assert.deepEqual(told(receiver).slice(3), ['some-run-4', 'some-run-4', 'some-run-5']);
  assert.equal(receiver.ids[4], receiver.ids[3]);
  assert.equal(receiver.ids[5], sha256('some-run-5 5').slice(0, 16));
});

test('a backlog larger than the queue waits in the dataset: nothing is dropped', { timeout: 240_000 }, async (t) => {
  const COUNT = 1100;
  const port = await freePort();
  const service = await start(t, port);
  const ids = Array.from({ length: COUNT }, (_, i) => `some-run-${i + 1}`);
  const bring = async (first) => {
    for (let i = first; i < COUNT; i += 20)
      await submit(service, (options) => flaggedRun({ ...options, cells: ['llm'], chunks: 4 }), ids[i], i + 1);
  };
  await Promise.all(Array.from({ length: 20 }, (_, first) => bring(first)));
  const figure = async (name) => Number(new RegExp(`webhook_${name} (\\d+)\n`).exec(await (await service.fetch('/metrics')).text())[1]);
  await until(async () => await figure('queued') >= 500, 'the queue has what it may');
  const receiver = await receive(t, fine, port);
  await until(() => receiver.bodies.length >= COUNT, 'all are told', 120_000);
  assert.deepEqual([...new Set(told(receiver))].sort(), ids.sort());
  assert.deepEqual(receiver.bodies.map(({ revision }) => revision), Array.from(ids, (_, i) => i + 1), 'in order');
  assert.equal(await figure('dropped_total'), 0);
});

test('runs that were there before there was a webhook are not told', async (t) => {
  const service = await startService(t);
  await submit(service, flaggedRun, 'old-run-1', 1);
  const receiver = await receive(t, fine);
  await service.restart({ config: { webhook_url: `http://127.0.0.1:${receiver.port}/` },
    env: { BENCHLEDGER_WEBHOOK_SECRET: SECRET } });
  await submit(service, flaggedRun, 'new-run-2', 2);
  await until(() => receiver.bodies.length > 0, 'it is told');
  assert.deepEqual(told(receiver), ['new-run-2']);
});

for (const cursor of ['99999999999999999999999', '-1', '5 apples', 'garbage', ''])
  test(`a cursor that reads "${cursor}" silences nothing`, async (t) => {
    const receiver = await receive(t, fine);
    const service = await start(t, receiver.port);
    await submit(service, flaggedRun, 'some-run-1', 1);
    await until(() => receiver.bodies.length > 0, 'it is told');
    await service.stop();
    writeFileSync(path.join(service.folder, 'state', 'webhook.seq'), cursor);
    await service.begin();
    await submit(service, flaggedRun, 'some-run-2', 2);
    await until(() => told(receiver).includes('some-run-2'), 'the next is told');
    assert.match(service.log, /is not known/);
  });

test('after the dataset was set back new runs are told', async (t) => {
  const receiver = await receive(t, fine);
  const service = await start(t, receiver.port);
  for (let i = 1; i <= 4; i++) await submit(service, flaggedRun, `some-run-${i}`, i);
  await until(() => receiver.bodies.length === 4, 'all are told');
  service.git('update-ref', 'refs/heads/main', 'HEAD~3');
  await until(async () => (await service.json('/api/bench/quarantine')).body.total === 1, 'it follows');
  await sleep(300);
  await submit(service, flaggedRun, 'some-run-5', 5);
  await until(() => told(receiver).includes('some-run-5'), 'the next is told');
});
