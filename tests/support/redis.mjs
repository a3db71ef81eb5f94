// A real redis-server of a test's own: on a unix socket, or on a TCP port with a password.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sleep } from './service.mjs';

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

export class Redis {
  constructor(folder, { password, policy = 'noeviction' }) {
    Object.assign(this, { folder, password, policy });
  }

  async begin() {
    if (this.password) this.port ??= await freePort();
    const file = path.join(this.folder, 'redis.conf');
    const place = this.password
      ? `port ${this.port}\nbind 127.0.0.1\nrequirepass ${this.password}\n`
      : `port 0\nunixsocket ${path.join(this.folder, 'socket')}\n`;
    writeFileSync(file, `${place}dir ${this.folder}\nsave ""\nappendonly no\ndaemonize no\n` +
      `maxmemory-policy ${this.policy}\n`);
    this.child = spawn('redis-server', [file], { stdio: 'ignore' });
    this.ended = once(this.child, 'exit');
    for (;;) {
      const answer = await this.call('PING').catch(() => '');
      if (/PONG/.test(answer)) return this;
      if (this.child.exitCode !== null) throw new Error('redis-server does not start');
      await sleep(20);
    }
  }

  get url() {
    return this.password ? `redis://127.0.0.1:${this.port}/2` : `unix://${path.join(this.folder, 'socket')}?db=2`;
  }

  /** What it answers to inline commands, as text, in the database of the URL. */
  call(...commands) {
    return new Promise((resolve, reject) => {
      const socket = this.password ? net.connect(this.port, '127.0.0.1') : net.connect(path.join(this.folder, 'socket'));
      let text = '';
      socket.on('data', (data) => { text += data; });
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
      const lines = [...(this.password ? [`AUTH ${this.password}`] : []), 'SELECT 2', ...commands, 'QUIT'];
      socket.end(`${lines.join('\r\n')}\r\n`);
    });
  }

  async kill(signal = 'SIGKILL') {
    this.child.kill(signal);
    if (signal === 'SIGKILL') await this.ended;
  }
}

/** Starts one for test context T. */
export async function startRedis(t, options = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-redis-'));
  const redis = new Redis(folder, options);
  t.after(async () => {
    redis.child?.kill('SIGCONT');
    if (redis.child?.exitCode === null && redis.child.signalCode === null) await redis.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  return redis.begin();
}
