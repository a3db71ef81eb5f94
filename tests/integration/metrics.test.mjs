// What whoever watches the service sees: /metrics, and the warnings of /readyz.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeRun, seal } from '../support/run.mjs';
import { command, sleep, startService } from '../support/service.mjs';

/** The samples by name with labels, after checking the form of every line. */
async function scrape(service) {
  const response = await service.fetch('/metrics');
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  assert.ok(text.endsWith('\n'));
  const samples = {}, types = {};
  for (const line of text.slice(0, -1).split('\n')) {
    const type = /^# TYPE (\w+) (counter|gauge)$/.exec(line);
    if (type) {
      assert.ok(!(type[1] in types), line);
      [, types[type[1]]] = [0, type[2]];
      continue;
    }
    if (/^# HELP \w+ \S/.test(line)) continue;
    const sample = /^(\w+)(\{(?:\w+="[^"\\\n]*",?)+\})? (\S+)$/.exec(line);
    assert.ok(sample && sample[1] in types && Number.isFinite(Number(sample[3])), line);
    assert.ok(!(sample[1] + (sample[2] ?? '') in samples), line);
    assert.equal(sample[1].endsWith('_total'), types[sample[1]] === 'counter', line);
    samples[sample[1] + (sample[2] ?? '')] = Number(sample[3]);
  }
  return samples;
}

test('requests, submissions and runs are counted by what the tables say', async (t) => {
  const service = await startService(t);
  const before = await scrape(service);
  assert.equal(before.benchledger_ready, 1);
  assert.equal(before['benchledger_submissions_total{end="nonce-used"}'], 0);
  assert.ok(before.benchledger_connections >= 1);
  assert.ok(before.benchledger_resident_memory_bytes > 1e6 && before.benchledger_start_time_seconds > 1.7e9);
  assert.ok(Object.keys(before).some((name) => /^benchledger_build_info\{version="[\d.]+",rules="2"\}$/.test(name)));

  const run = seal(makeRun({ id: 'counted-run-01' }), await service.nonce());
  assert.equal((await service.post(run)).status, 200);
  assert.equal((await service.post(run)).status, 409);
  assert.equal((await service.post('{')).status, 400);
  const flagged = makeRun({ id: 'counted-run-02', seed: 2 });
  flagged.fingerprint = null;
  assert.equal((await service.submit(flagged)).body.flagged, true);
  for (const place of ['/no/such/place', '/%22%0a{evil="x"} 1']) await service.fetch(place);
  await service.fetch('/runs/2026/01/nothing.json');
  for (const place of ['', '?browser=Chrome', '?browser=Chrome', '']) await service.fetch(`/api/bench/leaderboard${place}`);
  await service.fetch('/healthz', { method: 'HEAD' });
  await service.fetch('/healthz', { method: 'DELETE' });

  const after = await scrape(service);
  const requests = (method, route, kind) => after[`benchledger_requests_total{method="${method}",route="${route}",class="${kind}"}`];
  assert.equal(requests('POST', '/api/bench/submit', '2xx'), 2);
  assert.equal(requests('POST', '/api/bench/submit', '4xx'), 2);
  assert.equal(requests('GET', '/runs/{year}/{month}/{file}', '4xx'), 1);
  assert.equal(requests('GET', '/healthz', '2xx'), 1);
  assert.equal(requests('other', 'none', '4xx'), 3);
  for (const [end, count] of [['committed', 2], ['duplicate-run', 1], ['invalid-json', 1], ['queued', 0]])
    assert.equal(after[`benchledger_submissions_total{end="${end}"}`], count, end);
  assert.equal(after['benchledger_runs_total{kind="published"}'], 1);
  assert.equal(after['benchledger_runs_total{kind="quarantined"}'], 1);
  for (const name of ['queued', 'parked', 'commits_total', 'pushes_total', 'failed_pushes_total', 'disk_bytes'])
    assert.ok(`benchledger_store_${name}` in after, name);
  assert.deepEqual(['hits_total', 'misses_total', 'contents'].map((name) => after[`benchledger_board_cache_${name}`]), [2, 2, 2]);
  assert.ok(after.benchledger_board_cache_bytes > 1000);
  assert.ok(!JSON.stringify(after).includes('evil'));
});

test('a service without a store is not ready, and says so there, too', async (t) => {
  const service = await startService(t, { store: '' });
  const samples = await scrape(service);
  assert.equal(samples.benchledger_ready, 0);
  assert.ok(!('benchledger_redis_up' in samples));
});

test('a token that expires soon is warned of, in /readyz and in the log', async (t) => {
  const day = (ahead) => new Date(Date.now() + ahead * 86400e3).toISOString().slice(0, 10);
  for (const [ahead, words] of [[20, null], [10, /^token-expires: .* in (9|10) days/], [-3, /^token-expires: .* expired [34] days ago/]]) {
    const service = await startService(t, { config: { token_expires: day(ahead) } });
    const ready = await service.json('/readyz');
    assert.equal(ready.status, 200);
    assert.equal(ready.body.warnings.length, words ? 1 : 0);
    if (words) assert.match(ready.body.warnings[0], words);
    for (let i = 0; i < 40 && words && !service.log.includes('token-expires'); i++) await sleep(50);
    await sleep(600); /* some more looks of the watchdog */
    await service.stop();
    assert.equal(service.log.split('token-expires').length - 1, words ? 1 : 0, service.log);
  }
  for (const wrong of ['2026-02-30', 'soon']) {
    const ended = await command(['serve', '--check-config', '--token-expires', wrong]);
    assert.equal(ended.code, 2);
    assert.match(ended.stderr, /token_expires/);
  }
});
