// Maintainers with tokens, quarantined runs, and what a dataset looks like after decisions.
import assert from 'node:assert/strict';
import path from 'node:path';
import { assertSound } from './audit.mjs';
import { command } from './service.mjs';
import { canonical, makeRun, seal, sha256 } from './run.mjs';

/** {file, tokens: {NAME: TOKEN}} for [NAME, ROLE, ...ARGS] each. */
export async function makeMaintainers(folder, people) {
  const file = path.join(folder, 'maintainers');
  const tokens = {};
  for (const [name, role, ...args] of people) {
    const { code, stdout, stderr } = await command(['token', 'add', name, '--role', role, '--maintainers-file', file, ...args]);
    assert.equal(code, 0, stderr);
    tokens[name] = stdout.trim();
  }
  return { file, tokens };
}

/** A run that set 2 rejects: its chunks hold a unit more than its text. */
export function flaggedRun(options) {
  const run = makeRun(options);
  const iteration = run.cells.find((cell) => cell.iterations?.[0]?.chunks?.length > 1).iterations[0];
  iteration.chunks[0].c += 1;
  return run;
}

/** Posts a decision; {status, body}. */
export function decide(service, token, { runId, action, reason = 'looked at it', expectedRevision }, headers = {}) {
  return service.json('/api/bench/review', {
    method: 'POST', body: JSON.stringify({ runId, action, reason, expectedRevision }),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
  });
}

export async function stateOf(service, runId) {
  return (await service.json(`/api/bench/runs/${runId}`)).body;
}

/** What the spec says of a dataset, read from git alone: FILE(path) and FILES() of a tip. */
export function checkReviewed({ files, file }) {
  const names = files();
  const entries = JSON.parse(file('index/summary.json'));
  const manifest = JSON.parse(file('index/manifest.json'));
  const segments = manifest.segments.flatMap((segment) => {
    const bytes = file(segment.path);
    assert.equal(bytes.length, segment.bytes, segment.path);
    assert.equal(sha256(bytes), segment.sha256, segment.path);
    assert.equal(JSON.parse(bytes).length, segment.entries, segment.path);
    return JSON.parse(bytes);
  });
  assert.deepEqual(segments, entries);
  assert.equal(manifest.entries, entries.length);
  assert.equal(manifest.flagged, entries.filter((entry) => entry.flagged).length);
  const listed = entries.map((entry) => entry.path).sort();
  const present = names.filter((name) => /^(runs|quarantine)\//.test(name)).sort();
  assert.deepEqual(present, listed, 'files and index agree');
  for (const entry of entries) assert.equal(entry.flagged, entry.path.startsWith('quarantine/'), entry.path);
  const places = new Map(), revisions = new Map(), lines = [];
  let previous = '0'.repeat(64), seq = 0;
  for (const name of names.filter((at) => at.startsWith('ledger/')).sort())
    for (const text of file(name).toString().trimEnd().split('\n')) {
      const line = JSON.parse(text);
      assert.equal(text, canonical(line));
      assert.equal(line.prev, previous);
      assert.equal(line.seq, ++seq);
      previous = sha256(text);
      if (line.event !== 'accept') assert.equal(line.revision, revisions.get(line.runId) ?? 0, text);
      revisions.set(line.runId, line.seq);
      if (line.event === 'redact') places.delete(line.runId);
      else if (line.path) places.set(line.runId, line.path);
      lines.push(line);
    }
  for (const place of places.values()) assert.ok(names.includes(place), `${place} is there`);
  return { entries, lines, names };
}

export function reviewed(service) {
  assertSound(service.store);
  return checkReviewed({ files: () => service.files(), file: (name) => service.file(name) });
}

/** A code and the header of its hash. */
export function withdrawCode(n) {
  const code = sha256(`code ${n}`).slice(0, 43);
  return { code, headers: { 'x-withdraw-sha256': sha256(code) } };
}

export { makeRun, seal };
