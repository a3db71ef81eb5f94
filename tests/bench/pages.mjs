// What the board costs as a page: weight and first byte, beside the JSON board and a static asset in the same run,
// kept and made anew, at 2,000 and 20,000 rows. Usage: BENCHLEDGER_BINARY=... node tests/bench/pages.mjs
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { boardEntries, makeBoard } from '../support/boards.mjs';
import { startService } from '../support/service.mjs';

const ROUNDS = 41, ANEW = 7;
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** {firstMs, bytes} of one answer over a kept connection. */
function get(service, agent, place, gzip = true) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    request(service.base + place, { agent, headers: gzip ? { 'accept-encoding': 'gzip' } : {} }, (response) => {
      const firstMs = performance.now() - started;
      let bytes = 0;
      response.on('data', (part) => { bytes += part.length; });
      response.on('end', () => (response.statusCode === 200 ? resolve({ firstMs, bytes })
        : reject(new Error(`${place}: ${response.statusCode}`))));
    }).on('error', reject).end();
  });
}

async function measure(devices) {
  const cleanups = [], folder = mkdtempSync(path.join(tmpdir(), 'benchledger-pages-'));
  const service = await startService({ after: (work) => cleanups.push(work) },
    { store: makeBoard(path.join(folder, 'board.git'), boardEntries(devices)) });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  console.log(`${devices * 100} rows`);
  const places = ['/', '/?benchModelId=qwen2.5-0.5b', '/api/bench/leaderboard', '/assets/style.css'];
  const first = places.map(() => []);
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, place] of places.entries()) first[i].push((await get(service, agent, place)).firstMs);
  for (const [i, place] of places.entries()) {
    const [{ bytes }, plain] = [await get(service, agent, place), await get(service, agent, place, false)];
    console.log(`  ${place.padEnd(28)} ${(bytes / 1000).toFixed(0).padStart(5)} KB (${(plain.bytes / 1000).toFixed(0)
    } plain), kept: first byte after ${median(first[i]).toFixed(2)} ms, ${
      (median(first[i]) / median(first.at(-1))).toFixed(1)} times the asset's`);
  }
  // Blanks search for nothing: another key for the same rows.
  const anew = { JSON: '/api/bench/leaderboard?q=', page: '/?q=', 'page of all rows': '/?rows=all&q=' };
  let blanks = 0, peer;
  for (const [name, place] of Object.entries(anew)) {
    const [plain, packed] = [[], []];
    for (let i = 0; i < ANEW; i++) {
      plain.push((await get(service, agent, place + '%20'.repeat(++blanks), false)).firstMs);
      packed.push((await get(service, agent, place + '%20'.repeat(++blanks))).firstMs);
    }
    peer ??= median(plain);
    console.log(`  made anew: ${name.padEnd(17)} ${median(packed).toFixed(1)} ms, ${median(plain).toFixed(1)
    } ms not compressed, ${(median(plain) / peer).toFixed(1)} times the JSON`);
  }
  agent.destroy();
  for (const work of cleanups) await work();
  rmSync(folder, { recursive: true, force: true });
}

for (const devices of [20, 200]) await measure(devices);
