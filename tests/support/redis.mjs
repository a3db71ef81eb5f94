// A redis of a test's own, with a password that only its standard input has seen: on a unix socket, or on TCP.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { accepts, startDaemon } from './daemon.mjs';

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Sends inline COMMANDS to PLACE and resolves with all that it answers, as text. */
function converse(place, commands) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(place);
    let text = '';
    socket.on('data', (data) => { text += data; });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    socket.end([...commands, 'QUIT', ''].join('\r\n'));
  });
}

/** {url, password, start(), stop(), signal(name), call(...commands)}; it ends with test T. Without PASSWORD it
 *  asks for none. `call` talks in database DB, which is also that of the URL. */
export async function startRedis(t, { policy = 'noeviction', tcp = false, db = 0,
  password = `pass${randomBytes(16).toString('hex')}` } = {}) {
  const redis = { password, daemon: null };
  t.after(() => redis.stop());
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-redis-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const socket = path.join(folder, 'redis.sock'), place = tcp ? await freePort() : socket;
  redis.url = tcp ? `redis://127.0.0.1:${place}${db ? `/${db}` : ''}` : `unix://${socket}${db ? `?db=${db}` : ''}`;
  redis.start = async () => {
    redis.daemon = startDaemon('redis-server', ['-'], { input: [
      ...(tcp ? [`port ${place}`, 'bind 127.0.0.1'] : ['port 0', `unixsocket ${socket}`]), `dir ${folder}`, 'save ""',
      'appendonly no', `maxmemory-policy ${policy}`, ...(password ? [`requirepass ${password}`] : []), ''].join('\n') });
    await accepts(redis.daemon, place);
  };
  redis.signal = (name) => process.kill(redis.daemon.child.pid, name);
  redis.call = (...commands) => converse(place, [...(password ? [`AUTH ${password}`] : []), `SELECT ${db}`, ...commands]);
  redis.stop = async () => {
    await redis.daemon?.stop();
    rmSync(socket, { force: true }); // nobody listens there any more
  };
  await redis.start();
  return redis;
}
