// A redis of a test's own on a unix socket, with a password that only its standard input has seen.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { accepts, startDaemon } from './daemon.mjs';

/** {url, password, stop(), start()}; it ends with test T. */
export async function startRedis(t, { policy = 'noeviction' } = {}) {
  const redis = { password: `pass${randomBytes(16).toString('hex')}`, daemon: null };
  t.after(() => redis.stop());
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-redis-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const socket = path.join(folder, 'redis.sock');
  redis.url = `unix://${socket}`;
  redis.start = async () => {
    redis.daemon = startDaemon('redis-server', ['-'], { input: ['port 0', `unixsocket ${socket}`, `dir ${folder}`,
      'save ""', 'appendonly no', `maxmemory-policy ${policy}`, `requirepass ${redis.password}`, ''].join('\n') });
    await accepts(redis.daemon, socket);
  };
  redis.stop = async () => {
    await redis.daemon?.stop();
    rmSync(socket, { force: true }); // nobody listens there any more
  };
  await redis.start();
  return redis;
}
