// kill -9 in a stream of submissions: what was answered with 200 is in the repository, its index and its
// ledger; no nonce is accepted twice across restarts; a git lock left behind stops nobody.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { assertSound } from '../support/audit.mjs';
import { canonical, makeRun, seal, sha256 } from '../support/run.mjs';
import { readLedger, sleep, startService } from '../support/service.mjs';

const KILLS = Number(process.env.BENCHLEDGER_KILLS ?? 30);
const CLIENTS = 4;
const SECRET = { env: { BENCH_NONCE_SECRET: 'a secret that outlives the process' } };

test(`${KILLS} kills lose nothing and repeat nothing`, { timeout: 240_000 }, async (t) => {
  const service = await startService(t, SECRET);
  const acknowledged = new Map(); // run id: {nonce, commit, digest}
  const unanswered = []; // sealed runs whose answer was lost
  let number = 0, running = true, duplicates = 0;

  async function client() {
    while (running) {
      const id = `crash-run-${String(++number).padStart(6, '0')}`;
      let sealed;
      try {
        sealed = seal(makeRun({ id, seed: number, cells: ['embed-single'] }), await service.nonce());
        const answer = await service.post(sealed);
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        acknowledged.set(id, { nonce: sealed.nonce, commit: answer.body.commit });
      } catch (problem) {
        if (problem.code === 'ERR_ASSERTION') throw problem;
        if (sealed) unanswered.push(sealed);
        return; // the service is gone
      }
    }
  }

  for (let kill = 0; kill < KILLS; kill++) {
    running = true;
    const clients = Array.from({ length: CLIENTS }, client);
    await sleep(30 + (kill * 37) % 170);
    await service.stop('SIGKILL');
    running = false;
    await Promise.all(clients);
    if (kill % 3 === 0)
      for (const lock of ['refs/heads/main.lock', 'HEAD.lock', 'packed-refs.lock'])
        if (!existsSync(path.join(service.store, lock)))
          writeFileSync(path.join(service.store, lock), '');
    await service.begin();

    // A client whose answer was lost submits the very same file again.
    for (const sealed of unanswered.splice(0)) {
      const again = await service.post(sealed);
      if (again.status === 200) {
        acknowledged.set(sealed.runId, { nonce: sealed.nonce, commit: again.body.commit });
      } else {
        assert.equal(again.status, 409, JSON.stringify(again.body));
        assert.equal(again.body.code, 'duplicate-run');
        assert.equal(again.body.same, true);
        acknowledged.set(sealed.runId, { nonce: sealed.nonce });
        duplicates++;
      }
    }
    // A nonce that was spent before the kill stays spent.
    const spent = [...acknowledged.values()].at(-1);
    assert.ok(spent, 'nothing was acknowledged before the first kill');
    const other = await service.post(seal(makeRun({ id: `other-run-${kill}00000` }), spent.nonce));
    assert.equal(other.status, 409);
    assert.equal(other.body.code, 'nonce-used');
  }

  assert.ok(acknowledged.size >= KILLS, `only ${acknowledged.size} runs were acknowledged`);
  await service.stop();
  const files = service.files().filter((name) => name.startsWith('runs/'));
  const events = readLedger(service, { canonical, sha256 });
  const entries = JSON.parse(service.file('index/summary.json'));
  const manifest = JSON.parse(service.file('index/manifest.json'));
  const ids = (list) => [...list].sort();
  const fromFiles = ids(files.map((name) => path.basename(name, '.json')));
  assert.deepEqual(ids(acknowledged.keys()), fromFiles, 'every acknowledged run, and no other');
  assert.deepEqual(ids(events.map((event) => event.runId)), fromFiles, 'each once in the ledger');
  assert.deepEqual(ids(entries.map((entry) => entry.runId)), fromFiles, 'each once in the index');
  assert.equal(manifest.entries, fromFiles.length);
  const nonces = events.map((event) => event.nonceSha256);
  assert.equal(new Set(nonces).size, nonces.length, 'no nonce was accepted twice');
  for (const { nonce } of acknowledged.values())
    assert.ok(nonces.includes(createHash('sha256').update(nonce).digest('hex')));
  for (const [id, { commit }] of acknowledged)
    if (commit)
      assert.ok(service.git('ls-tree', '-r', '--name-only', commit).includes(`/${id}.json`));
  execFileSync('git', ['--git-dir', service.store, 'fsck', '--strict', '--no-dangling'],
    { stdio: ['ignore', 'pipe', 'pipe'] });
  assertSound(service.store);
  t.diagnostic(`${acknowledged.size} runs, ${duplicates} of them known after a lost answer`);
});
