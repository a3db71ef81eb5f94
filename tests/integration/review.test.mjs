// Decisions about runs over HTTP, with a local store: by maintainers and by submitters.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { decide, flaggedRun, makeMaintainers, makeRun, reviewed, seal, stateOf, withdrawCode,
} from '../support/review.mjs';
import { command, raw, sleep, startService } from '../support/service.mjs';

const PEOPLE = [['ada', 'reviewer'], ['grace', 'admin']];

async function startReviewed(t, { config = {}, people = PEOPLE } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-review-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const { file, tokens } = await makeMaintainers(folder, people);
  const service = await startService(t, { config: { maintainers_file: file, ...config } });
  return { service, tokens, file, folder };
}

async function submitted(service, run, options) {
  const { status, body } = await service.submit(run, options);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const refused = ({ status, body }, wanted, code) => {
  assert.equal(body.code, code, JSON.stringify(body));
  assert.equal(status, wanted);
  return body;
};

test('release, keep and withdraw move the file, edit the index and write one line each', async (t) => {
  const { service, tokens } = await startReviewed(t);
  const ids = ['flagged-run-one', 'flagged-run-two', 'plain-run-three'];
  for (const [i, id] of ids.entries())
    await submitted(service, (i < 2 ? flaggedRun : makeRun)({ id, seed: i + 1 }));
  const before = reviewed(service);
  const bytes = new Map(before.entries.map((entry) => [entry.runId, service.file(entry.path)]));
  const list = (await service.json('/api/bench/quarantine')).body;
  assert.equal(list.total, 2);
  assert.equal(list.next, null);
  assert.deepEqual(list.runs.map((run) => run.runId), [ids[1], ids[0]], 'the last accepted first');
  assert.equal(list.runs[0].flags.find((flag) => flag.code === 'text-chunk-mismatch').severity, 'reject');
  assert.equal((await service.json('/api/bench/leaderboard')).body.runs, 1);

  const released = await decide(service, tokens.ada,
    { runId: ids[0], action: 'release', reason: 'the text was cut by the harness', expectedRevision: 1 });
  assert.deepEqual({ ...released.body, commit: undefined }, { ok: true,
    path: 'runs/2026/01/flagged-run-one.json', commit: undefined, revision: 4 });
  assert.equal(released.status, 200);
  assert.equal(released.body.commit, service.git('rev-parse', 'HEAD').trim());
  assert.match(service.git('log', '-1', '--format=%B'), /^bench: release run flagged-run-one\n+$/);
  assert.equal((await service.json('/api/bench/leaderboard')).body.runs, 2);
  const kept = await decide(service, tokens.ada, { runId: ids[1], action: 'keep', expectedRevision: 2 });
  assert.equal(kept.body.revision, 5);
  assert.deepEqual((await service.json('/api/bench/quarantine?decision=open')).body.runs, []);
  assert.equal((await service.json('/api/bench/quarantine?decision=kept')).body.runs[0].history.at(-1).action, 'keep');
  const withdrawn = await decide(service, tokens.grace,
    { runId: ids[2].toUpperCase(), action: 'withdraw', expectedRevision: 3 });
  assert.equal(withdrawn.body.path, 'withdrawn/2026/01/plain-run-three.json');
  assert.equal((await service.json('/api/bench/leaderboard')).body.runs, 1);

  const check = async () => {
    const after = reviewed(service);
    assert.deepEqual(after.entries, [{ ...before.entries[0], flagged: false, path: 'runs/2026/01/flagged-run-one.json' },
      before.entries[1]]);
    for (const [place, id] of [['runs', ids[0]], ['quarantine', ids[1]], ['withdrawn', ids[2]]])
      assert.ok(service.file(`${place}/2026/01/${id}.json`).equals(bytes.get(id)), 'identical bytes');
    const [, , , line] = after.lines;
    assert.deepEqual({ ...line, prev: 0, at: 0 }, { action: 'release', at: 0, by: 'ada', event: 'decide', prev: 0,
      path: 'runs/2026/01/flagged-run-one.json', reason: 'the text was cut by the harness', revision: 1,
      runId: ids[0], seq: 4 });
    const state = await stateOf(service, ids[0]);
    assert.equal(state.status, 'published');
    assert.equal(state.revision, 4);
    assert.deepEqual(state.history.map(({ event, seq }) => [event, seq]), [['accept', 1], ['decide', 4]]);
    assert.deepEqual(state.history[1], line);
    assert.equal((await stateOf(service, ids[2])).status, 'withdrawn');
    assert.equal((await service.fetch('/runs/2026/01/plain-run-three.json')).status, 410);
    assert.equal((await service.fetch('/run/plain-run-three')).status, 410);
    assert.equal((await service.fetch('/run/flagged-run-one')).status, 200);
  };
  await check();
  await service.restart();
  await check();
  const { code, stdout, stderr } = await command(['index', '--dry-run', service.store]);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /unchanged/);
});

test('what cannot be decided has its code and changes nothing', async (t) => {
  const { service, tokens, file } = await startReviewed(t, { config: { review_rate_limit: 0 },
    people: [...PEOPLE, ['eve', 'reviewer'], ['old', 'admin', '--expires', new Date().toISOString().slice(0, 10)]] });
  await submitted(service, flaggedRun({ id: 'flagged-run-one', seed: 1 }));
  await submitted(service, makeRun({ id: 'plain-run-two', seed: 2 }));
  const tip = service.git('rev-parse', 'HEAD');
  const one = { runId: 'flagged-run-one', action: 'release', expectedRevision: 1 };
  const two = { runId: 'plain-run-two', action: 'withdraw', expectedRevision: 2 };
  const as = (name, what) => decide(service, tokens[name] ?? name, what);

  await t.test('a stranger', async () => {
    for (const token of ['', 'x', tokens.ada.slice(1), `${tokens.ada}x`, tokens.ada.toLowerCase()]) {
      const answer = await as(token, one);
      refused(answer, 401, 'unauthorized');
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
    }
    const none = await service.json('/api/bench/review', { method: 'POST', body: JSON.stringify(one),
      headers: { 'content-type': 'application/json' } });
    refused(none, 401, 'unauthorized');
    refused(await service.json(`/api/bench/review?token=${tokens.ada}`, { method: 'POST', body: '{}',
      headers: { 'content-type': 'application/json' } }), 401, 'unauthorized');
  });
  await t.test('a stale revision, an unknown run, a state that does not fit', async () => {
    const stale = refused(await as('ada', { ...one, expectedRevision: 2 }), 409, 'stale-review');
    assert.deepEqual([stale.revision, stale.status], [1, 'quarantined']);
    refused(await as('ada', { ...one, runId: 'nobody-knows-it' }), 404, 'unknown-run');
    refused(await as('ada', { ...two, action: 'release' }), 409, 'wrong-state');
    refused(await as('ada', { ...two, action: 'keep' }), 409, 'wrong-state');
  });
  await t.test('a role that may not', async () => {
    refused(await as('ada', two), 403, 'forbidden');
    refused(await as('ada', { ...one, action: 'withdraw' }), 403, 'forbidden');
  });
  await t.test('a body that is no review', async () => {
    for (const change of [{ action: 'delete' }, { action: undefined }, { runId: 7 }, { runId: '' }, { runId: 'x'.repeat(65) },
      { runId: 'a\0b' }, { reason: '' }, { reason: ' \n\u202e ' }, { reason: '\ud800' }, { reason: undefined }, { reason: 5 },
      { expectedRevision: -1 }, { expectedRevision: 1.5 }, { expectedRevision: '1' }, { expectedRevision: undefined },
      { expectedRevision: 1e300 }]) {
      const body = JSON.stringify({ ...one, reason: 'because', ...change });
      refused(await service.json('/api/bench/review', { method: 'POST', body,
        headers: { 'content-type': 'application/json', authorization: `bearer ${tokens.ada}` } }), 400, 'invalid-review');
    }
    for (const body of ['', '[]', '{', 'null', '"x"'])
      refused(await service.json('/api/bench/review', { method: 'POST', body,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${tokens.ada}` } }), 400, 'invalid-review');
    refused(await service.json('/api/bench/review', { method: 'POST', body: '{}',
      headers: { 'content-type': 'text/plain', authorization: `Bearer ${tokens.ada}` } }), 415, 'unsupported-media-type');
  });
  await t.test('somebody who was revoked, or whose time is over', async () => {
    assert.equal((await command(['token', 'revoke', 'eve', '--maintainers-file', file])).code, 0);
    for (let tries = 0; tries < 50 && (await as('eve', { ...one, expectedRevision: 9 })).status !== 401; tries++)
      await sleep(100);
    refused(await as('eve', one), 401, 'unauthorized');
    refused(await as('old', { ...one, expectedRevision: 9 }), 409, 'stale-review'); // valid through today
  });
  assert.equal(service.git('rev-parse', 'HEAD'), tip, 'nothing was committed');
  await t.test('what was decided once', async () => {
    assert.equal((await as('ada', one)).status, 200);
    refused(await as('ada', one), 409, 'stale-review');
    refused(await as('ada', { ...one, expectedRevision: 3 }), 409, 'wrong-state');
    assert.equal((await as('grace', two)).status, 200);
    refused(await as('grace', { ...two, expectedRevision: 4 }), 409, 'wrong-state');
  });
  await sleep(200); // the log comes through a pipe
  for (const part of ['result=unauthorized', 'by=ada action=release run=flagged-run-one result=taken',
    'by=grace action=withdraw run=plain-run-two result=wrong-state', 'by=ada action=? run=flagged-run-one result=invalid-review',
    'by=ada run=flagged-run-one result=invalid-review', 'by=ada action=release run=? result=invalid-review',
    'by=ada action=release run=flagged-run-one result=invalid-review', 'by=ada result=invalid-review',
    'by=ada result=unsupported-media-type'])
    assert.ok(service.log.includes(part), `${part} in\n${service.log}`);
  for (const line of service.log.split('\n').filter((text) => / review id=/.test(text)))
    assert.match(line, line.endsWith('result=taken') ? / info  review / : / warn  review /);
  for (const token of Object.values(tokens)) assert.ok(!service.log.includes(token), 'no token in the log');
});

test('a body that is not taken has its line, too', async (t) => {
  const { service, tokens } = await startReviewed(t, { config: { max_body: 2000, drain_limit: 100_000 } });
  const send = (place, body, headers = {}) => service.json(place, { method: 'POST', body, duplex: 'half',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${tokens.ada}`, ...headers } });
  const large = JSON.stringify({ runId: 'x'.repeat(3000) });
  const chunked = () => new Blob([large]).stream();
  const count = (what) => service.log.split('\n').filter((line) => / warn  review /.test(line) && line.includes(what)).length;
  refused(await send('/api/bench/review', large), 413, 'payload-too-large');
  refused(await send('/api/bench/review', chunked()), 413, 'payload-too-large');
  refused(await send('/api/bench/review', 'no gzip', { 'content-encoding': 'gzip' }), 400, 'bad-request');
  refused(await send('/api/bench/withdraw', chunked()), 413, 'payload-too-large');
  for (let tries = 0; tries < 100 && count('result=') < 4; tries++) await sleep(20);
  assert.deepEqual([count('by=ada result=payload-too-large'), count('result=payload-too-large'), count('by=ada result=bad-request')],
    [2, 3, 1], service.log);
});

test('the page and the API of the quarantine take the same query, and files that are to be judged are counted', async (t) => {
  const { service } = await startReviewed(t, { config: { rate_limit: 1000, view_rate_limit: 6 } });
  for (let i = 1; i <= 8; i++) await submitted(service, flaggedRun({ id: `flagged-run-${i}`, seed: i }));
  await service.restart(); // nothing is kept
  for (const query of ['before=0', 'before=x', 'before=99999999999999999999', 'decision=maybe', `flag=${'x'.repeat(65)}`, 'flag=%ff'])
    for (const place of ['/review', '/api/bench/quarantine'])
      assert.equal((await service.fetch(`${place}?${query}`)).status, 400, `${place}?${query}`);
  for (const query of ['decision=kept&before=&flag=', `decision=&flag=${'x'.repeat(64)}`])
    for (const place of ['/review', '/api/bench/quarantine'])
      assert.equal((await service.fetch(`${place}?${query}`)).status, 200, `${place}?${query}`);
  const list = (limit) => service.json(`/api/bench/quarantine?limit=${limit}`);
  assert.equal((await list(6)).status, 200);
  assert.equal((await list(6)).status, 200, 'what is kept costs nothing');
  assert.ok(refused(await list(7), 429, 'rate-limited').retryAfterSec > 0);
  assert.equal((await list(6)).status, 200);
});

test('an expired token is nobody', async (t) => {
  const { service, tokens, file } = await startReviewed(t);
  const { readFileSync, writeFileSync } = await import('node:fs');
  await service.stop();
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^(ada .*)$/m, '$1 2026-01-01'));
  await service.begin();
  refused(await decide(service, tokens.ada, { runId: 'x', action: 'keep', expectedRevision: 0 }), 401, 'unauthorized');
  for (let tries = 0; tries < 100 && !service.log.includes('result=token-expired'); tries++) await sleep(20);
  assert.match(service.log, /result=token-expired/);
});

test('wrong tokens are counted by address and slow nobody', async (t) => {
  const { service, tokens } = await startReviewed(t, { config: { review_rate_limit: 10 } });
  await submitted(service, flaggedRun({ id: 'flagged-run-one', seed: 1 }));
  const one = { runId: 'flagged-run-one', action: 'release', expectedRevision: 1 };
  for (let i = 0; i < 10; i++) refused(await decide(service, `wrong${i}`, one), 401, 'unauthorized');
  const answer = await decide(service, tokens.ada, one);
  assert.ok(refused(answer, 429, 'rate-limited').retryAfterSec > 0, 'also with the right one');
  let over = false, refusals = 0;
  const flood = Promise.all(Array.from({ length: 20 }, async (_, i) => {
    for (; !over; refusals++) refused(await decide(service, `wrong${i}`, one), 429, 'rate-limited');
  }));
  try {
    for (let i = 2; i < 12; i++) {
      const began = performance.now(), before = refusals;
      await submitted(service, makeRun({ id: `plain-run-${i}`, seed: i }));
      assert.ok(performance.now() - began < 5000, 'a submission has its turn');
      assert.ok(refusals > before, 'during the flood');
    }
  } finally {
    over = true;
    await flood;
  }
  assert.equal((await stateOf(service, 'flagged-run-one')).status, 'quarantined');
});

test('a reason becomes one printable line of 500 units at most', async (t) => {
  const { service, tokens } = await startReviewed(t);
  await submitted(service, flaggedRun({ id: 'flagged-run-one', seed: 1 }));
  const reasons = [['<script>alert(1)</script> & "so"', '<script>alert(1)</script> & "so"'],
    ['two\nlines\r\n\r\nReviewed-by: someone\n', 'two lines Reviewed-by: someone'],
    ['\u202ebackwards\u2066 \u0000nul\u0085', 'backwards nul'],
    ['x'.repeat(1_000_000), 'x'.repeat(500)], ['\u{1f600}'.repeat(400), '\u{1f600}'.repeat(250)],
    [`x${'\u{1f600}'.repeat(400)}`, `x${'\u{1f600}'.repeat(249)}`], ['a\ud800b\udc00', 'ab']];
  let expectedRevision = 1;
  for (const [reason, wanted] of reasons) {
    const { status, body } = await decide(service, tokens.ada,
      { runId: 'flagged-run-one', action: 'keep', reason, expectedRevision });
    assert.equal(status, 200, JSON.stringify(body));
    expectedRevision = body.revision;
    assert.equal((await stateOf(service, 'flagged-run-one')).history.at(-1).reason, wanted);
    assert.match(service.git('log', '-1', '--format=%B'), /^bench: keep run flagged-run-one\n+$/);
  }
  assert.equal(reviewed(service).lines.length, 1 + reasons.length);
});

test('a run that names another one within its entry is not taken for it', async (t) => {
  const { service, tokens } = await startReviewed(t);
  const { code, headers } = withdrawCode(1);
  await submitted(service, makeRun({ id: 'named-run', seed: 1 }), { headers });
  await submitted(service, flaggedRun({ id: 'flagged-run', seed: 2 }));
  const naming = makeRun({ id: 'naming-run', seed: 3 });
  naming.harness.runtimeVersions = { runId: 'named-run', flagged: 'no', ...naming.harness.runtimeVersions };
  await submitted(service, naming);
  const other = makeRun({ id: 'naming-run-two', seed: 4 });
  other.harness.runtimeVersions = { runId: 'flagged-run', ...other.harness.runtimeVersions };
  await submitted(service, other);
  const before = reviewed(service).entries;
  assert.equal((await service.json('/api/bench/withdraw', { method: 'POST', body: JSON.stringify({ runId: 'named-run', code }),
    headers: { 'content-type': 'application/json' } })).status, 200);
  assert.equal((await decide(service, tokens.ada, { runId: 'flagged-run', action: 'release', expectedRevision: 2 })).status, 200);
  const { entries } = reviewed(service);
  assert.deepEqual(entries, before.slice(1).map((entry) => (entry.runId !== 'flagged-run' ? entry
    : { ...entry, flagged: false, path: 'runs/2026/01/flagged-run.json' })));
  await service.restart();
  assert.equal((await service.json('/api/bench/leaderboard')).body.runs, 3);
});

test('a submitter withdraws with the code whose hash came with the run', async (t) => {
  const { service, tokens } = await startReviewed(t, { config: { review_rate_limit: 0 } });
  const { code, headers } = withdrawCode(1);
  const withdraw = (runId, what) => service.json('/api/bench/withdraw', { method: 'POST',
    body: JSON.stringify({ runId, code: what }), headers: { 'content-type': 'application/json' } });
  await submitted(service, makeRun({ id: 'plain-run-one', seed: 1 }), { headers });
  await submitted(service, flaggedRun({ id: 'flagged-run-two', seed: 2 }), { headers });
  await submitted(service, makeRun({ id: 'plain-run-three', seed: 3 }));
  for (const hash of ['x', 'A'.repeat(64), '0'.repeat(63), '0'.repeat(65), ''])
    refused(await service.post(seal(makeRun({ id: 'plain-run-four', seed: 4 }), await service.nonce()),
      { headers: { 'x-withdraw-sha256': hash } }), 400, 'bad-request');
  refused(await withdraw('plain-run-one', withdrawCode(2).code), 403, 'forbidden');
  refused(await withdraw('plain-run-one', `${code}x`), 403, 'forbidden');
  refused(await withdraw('plain-run-three', code), 403, 'forbidden');
  refused(await withdraw('plain-run-nobody', code), 404, 'unknown-run');
  refused(await withdraw('plain-run-one', undefined), 400, 'bad-request');
  const done = await withdraw('plain-run-one', code);
  assert.deepEqual([done.status, done.body.path], [200, 'withdrawn/2026/01/plain-run-one.json']);
  refused(await withdraw('plain-run-one', code), 409, 'wrong-state');
  refused(await withdraw('plain-run-one', withdrawCode(2).code), 403, 'forbidden');
  const two = await decide(service, tokens.ada, { runId: 'flagged-run-two', action: 'release', expectedRevision: 2 });
  assert.equal(two.status, 200);
  assert.equal((await withdraw('flagged-run-two', code)).status, 200, 'after a release, too');
  const { lines } = reviewed(service);
  assert.deepEqual(lines.filter((line) => line.event === 'withdraw')
    .map(({ action, by, reason, revision, runId }) => ({ action, by, reason, revision, runId })), [
    { action: 'withdraw', by: undefined, reason: undefined, revision: 1, runId: 'plain-run-one' },
    { action: 'withdraw', by: undefined, reason: undefined, revision: 5, runId: 'flagged-run-two' }]);
  assert.equal(lines[0].withdrawSha256, headers['x-withdraw-sha256']);
  assert.equal(lines[2].withdrawSha256, undefined);
  assert.ok(!service.log.includes(code), 'the code is not logged');
  await service.restart();
  refused(await withdraw('plain-run-one', code), 409, 'wrong-state');
});

test('the list is paged, filtered and public', async (t) => {
  const { service, tokens } = await startReviewed(t);
  for (let i = 1; i <= 7; i++) await submitted(service, flaggedRun({ id: `flagged-run-${i}`, seed: i }));
  await decide(service, tokens.ada, { runId: 'flagged-run-3', action: 'keep', expectedRevision: 3 });
  const seen = [];
  for (let place = '/api/bench/quarantine?limit=3'; place;) {
    const { status, headers, body } = await service.json(place);
    assert.equal(status, 200);
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.equal(body.total, 7);
    seen.push(...body.runs.map((run) => run.runId));
    place = body.next && `/api/bench/quarantine?limit=3&before=${body.next}`;
  }
  assert.deepEqual(seen, [7, 6, 5, 4, 3, 2, 1].map((i) => `flagged-run-${i}`));
  const ids = async (query) => (await service.json(`/api/bench/quarantine?${query}`)).body.runs.map((run) => run.runId);
  assert.deepEqual(await ids('decision=kept'), ['flagged-run-3']);
  assert.equal((await ids('decision=open&flag=text-chunk-mismatch')).length, 6);
  assert.deepEqual(await ids('flag=timer-grid-no'), []);
  for (const query of ['limit=0', 'limit=51', 'limit=x', 'before=-1', 'before=0', 'decision=maybe', `flag=${'x'.repeat(65)}`])
    refused(await service.json(`/api/bench/quarantine?${query}`), 400, 'bad-request');
});

test('many reviews and submissions at once leave a sound dataset', async (t) => {
  const { service, tokens } = await startReviewed(t);
  for (let i = 0; i < 30; i++) await submitted(service, flaggedRun({ id: `flagged-run-${i}`, seed: i + 1 }));
  const actions = ['release', 'keep', 'withdraw'];
  const reviews = Array.from({ length: 30 }, (_, i) => decide(service, tokens.grace,
    { runId: `flagged-run-${i}`, action: actions[i % 3], expectedRevision: i + 1 }));
  const twice = Array.from({ length: 30 }, (_, i) => decide(service, tokens.ada,
    { runId: `flagged-run-${i}`, action: 'keep', expectedRevision: i + 1 }));
  const runs = Array.from({ length: 60 }, async (_, i) =>
    service.submit((i % 4 ? makeRun : flaggedRun)({ id: `other-run-${i}`, seed: 100 + i })));
  const won = await Promise.all(reviews.map(async (first, i) => {
    const outcomes = [(await first), (await twice[i])].map(({ status, body }) => [status, body.code]);
    assert.deepEqual(outcomes.map(([status]) => status).sort(), [200, 409], JSON.stringify(outcomes));
    assert.ok(outcomes.some(([, code]) => code === 'stale-review'));
    return outcomes[0][0] === 200;
  }));
  for (const { status } of await Promise.all(runs)) assert.equal(status, 200);
  const { entries, lines } = reviewed(service);
  assert.equal(lines.length, 30 + 30 + 60);
  for (const { body, status } of (await Promise.all([...reviews, ...twice])).filter((answer) => answer.status === 200)) {
    const line = lines[body.revision - 1];
    assert.deepEqual([status, line.event, line.path], [200, 'decide', body.path], 'the answer tells of the decision itself');
  }
  const gone = won.filter((first, i) => first && i % 3 === 2).length;
  assert.equal(entries.length, 90 - gone);
  execFileSync('git', ['--git-dir', service.store, 'fsck', '--strict', '--no-dangling']);
});

test('an index that this service did not write is not edited by halves', async (t) => {
  const { service, tokens } = await startReviewed(t);
  await submitted(service, flaggedRun({ id: 'flagged-run-one', seed: 1 }));
  await submitted(service, makeRun({ id: 'plain-run-two', seed: 2 }));
  const { sha256 } = await import('../support/run.mjs');
  await service.stop();
  service.replace((git) => {
    const put = (name, text) => {
      const blob = execFileSync('git', ['--git-dir', service.store, 'hash-object', '-w', '--stdin'], { input: text, encoding: 'utf8' });
      git('update-index', '--cacheinfo', `100644,${blob.trim()},${name}`);
    };
    const entries = JSON.stringify(JSON.parse(service.file('index/summary.json')), null, 1);
    const manifest = JSON.parse(service.file('index/manifest.json'));
    Object.assign(manifest.segments[0], { bytes: Buffer.byteLength(entries), sha256: sha256(entries) });
    put('index/segments/00001.json', entries);
    put('index/summary.json', entries);
    put('index/manifest.json', JSON.stringify(manifest));
  });
  await service.begin();
  const tip = service.git('rev-parse', 'HEAD');
  for (const [runId, action, expectedRevision] of [['flagged-run-one', 'release', 1], ['plain-run-two', 'withdraw', 2]]) {
    const answer = await decide(service, tokens.grace, { runId, action, expectedRevision });
    assert.match(refused(answer, 409, 'stale-review').message, /benchledger index/);
  }
  assert.equal((await command(['redact', service.store, 'plain-run-two', '--reason', 'x'])).code, 2);
  assert.equal(service.git('rev-parse', 'HEAD'), tip);
  assert.equal((await command(['index', service.store])).code, 0);
  for (let tries = 0; tries < 100; tries++) {
    const { status } = await decide(service, tokens.grace, { runId: 'plain-run-two', action: 'withdraw', expectedRevision: 2 });
    if (status === 200) break;
    await sleep(50);
  }
  assert.equal(reviewed(service).entries.length, 1);
});

test('a token that was revoked while its body came decides nothing', async (t) => {
  const { service, tokens, file } = await startReviewed(t);
  await submitted(service, flaggedRun({ id: 'flagged-run-one', seed: 1 }));
  const body = JSON.stringify({ runId: 'flagged-run-one', action: 'keep', reason: 'x', expectedRevision: 1 });
  const slow = raw(service.port, ['POST /api/bench/review HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
    + `Authorization: Bearer ${tokens.ada}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.slice(0, 5)}`,
  3000, body.slice(5)], { timeout: 15_000 });
  await sleep(300);
  assert.equal((await command(['token', 'revoke', 'ada', '--maintainers-file', file])).code, 0);
  service.child.kill('SIGHUP');
  assert.match((await slow).text, /^HTTP\/1.1 401 [^]*"code":"unauthorized"/);
  assert.equal((await stateOf(service, 'flagged-run-one')).revision, 1);
});

test('a history of many decisions is cut in answers, not in the ledger', async (t) => {
  const { service, tokens } = await startReviewed(t);
  await submitted(service, flaggedRun({ id: 'flagged-run-one', seed: 1 }));
  for (let expectedRevision = 1; expectedRevision <= 203; expectedRevision++)
    assert.equal((await decide(service, tokens.ada, { runId: 'flagged-run-one', action: 'keep', expectedRevision })).status, 200);
  const { history, historyLeftOut } = await stateOf(service, 'flagged-run-one');
  assert.deepEqual([history.length, historyLeftOut], [201, 3]);
  assert.deepEqual([history[0].event, history[1].seq, history.at(-1).seq], ['accept', 5, 204]);
  assert.equal(reviewed(service).lines.length, 204);
});
