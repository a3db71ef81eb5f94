// Programs that a test runs beside the service (git server, redis): they end with the test, whatever happens
// to it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';

/** Starts a program in a process group of its own. `output` is what it wrote, `stop` ends the group. */
export function startDaemon(program, args, { env = {}, input } = {}) {
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', program, ...args], {
    env: { PATH: `${process.env.PATH}:/usr/sbin`, ...env }, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const daemon = { child, output: '', ended: once(child, 'close') };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => { daemon.output += data; });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  daemon.stop = async () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch (problem) {
      if (problem.code !== 'ESRCH') throw problem;
    }
    await daemon.ended;
  };
  return daemon;
}

const connects = (place) => new Promise((resolve) => {
  const socket = net.connect(place);
  socket.on('connect', () => { socket.destroy(); resolve(true); });
  socket.on('error', () => resolve(false));
});

/** Resolves when DAEMON accepts connections at PLACE (a port or the path of a unix socket). */
export async function accepts(daemon, place) {
  let ended = false;
  daemon.ended.then(() => { ended = true; });
  while (!await connects(place)) {
    if (ended) throw new Error(`${daemon.child.spawnargs.join(' ')} ended: ${daemon.output}`);
    await new Promise((wake) => setTimeout(wake, 5));
  }
}
