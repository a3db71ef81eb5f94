// kill -9 again and again while runs come in, somebody else moves the remote's tip and its hook declines some:
// whatever step a kill falls into, every acknowledged run ends once, and as what it was acknowledged.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRemote } from '../support/remote.mjs';
import { checkDataset, FULL, parked, smallRun, startRemoteService, until } from '../support/remote_service.mjs';
import { makeRun, seal } from '../support/run.mjs';
import { sleep } from '../support/service.mjs';

const KILLS = Number(process.env.BENCHLEDGER_KILLS ?? (FULL ? 60 : 12));
const CLIENTS = 6;
const MARKER = 'zz-not-wanted-zz';

/** Declines a push that brings a run with the marker, and says nothing about which. */
const HOOK = `while read old new ref; do
  for blob in $(git rev-list --objects "$new" --not --all | grep -E ' (runs|quarantine)/' | cut -d' ' -f1); do
    git cat-file blob "$blob" | grep -q ${MARKER} && exit 1
  done
done
exit 0`;

const markedRun = (id, seed) => {
  const run = makeRun({ id, seed, cells: ['llm'] });
  run.harness.appVersion = MARKER;
  return run;
};

test(`${KILLS} kills between commits, pushes and the commits of others`, { timeout: 600_000 }, async (t) => {
  const remote = await startRemote(t, { hooks: { 'pre-receive': HOOK } });
  const service = await startRemoteService(t, remote, { config: { submit_wait_ms: 3000, pushes_per_minute: 0 } });
  await service.ready();
  const accepted = new Map(); // run id: sealed run, once anything but a lost answer came
  const unanswered = [];
  let number = 0, notes = 0, running = true, elsewhere = true;

  function note(sealed, { status, body }) {
    const fine = status === 200 || status === 202 || (status === 409 && body.same) || status === 422;
    assert.ok(fine, `${sealed.runId}: ${status} ${JSON.stringify(body)}`);
    accepted.set(sealed.runId, sealed);
  }

  async function client() {
    while (running) {
      const id = `kills-run-${String(++number).padStart(5, '0')}`;
      let sealed;
      try {
        sealed = seal((number % 17 === 0 ? markedRun : smallRun)(id, number), await service.nonce());
        note(sealed, await service.post(sealed));
      } catch (problem) {
        if (problem.code === 'ERR_ASSERTION') throw problem;
        if (sealed) unanswered.push(sealed);
        return; // the service is gone
      }
    }
  }

  const writer = (async () => {
    while (elsewhere) {
      try {
        remote.commit(`notes/${notes}.md`, `note ${notes}\n`);
        notes++;
      } catch { /* the service was faster */ }
      await sleep(400);
    }
  })();

  for (let kill = 0; kill < KILLS; kill++) {
    running = true;
    const clients = Array.from({ length: CLIENTS }, client);
    await sleep(150 + (kill * 137) % 900);
    await service.stop('SIGKILL');
    running = false;
    await Promise.all(clients);
    await service.begin();
    for (const sealed of unanswered.splice(0)) note(sealed, await service.post(sealed));
  }
  elsewhere = false;
  await writer;
  const fates = new Map();
  for (const [id, sealed] of accepted)
    fates.set(id, await until(async () => {
      const { status } = await service.fate(sealed);
      return ['published', 'declined'].includes(status) && status;
    }, { ms: 120_000, what: `${id} ends`, why: () => service.log.slice(-3000) }));
  const published = [...fates].filter(([, fate]) => fate === 'published').map(([id]) => id);
  const declined = [...fates].filter(([, fate]) => fate === 'declined').map(([id]) => id);
  t.diagnostic(`${accepted.size} runs: ${published.length} published, ${declined.length} declined; ${notes} commits of the other`);
  assert.ok(published.length > KILLS, 'something was published between the kills');
  for (const id of declined) assert.equal(accepted.get(id).harness.appVersion, MARKER, `${id} is declined for a reason`);
  for (const id of published) assert.notEqual(accepted.get(id).harness.appVersion, MARKER);
  assert.deepEqual(parked(service, 'declined'), declined.map((id) => accepted.get(id).digest).sort());
  await checkDataset(remote, published);
  for (let i = 0; i < notes; i++) assert.equal(remote.file(`notes/${i}.md`).toString(), `note ${i}\n`);
  await service.checkSecrets();
});
