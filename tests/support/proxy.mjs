// A TCP proxy with faults. What passes through it (TLS) stays untouched; only time, ends and silence are its
// business.
import { once } from 'node:events';
import net from 'node:net';

const DRIP_MS = 1000;

/**
 * One direction of a connection: what arrives leaves in order, not before its time. There is no limit on
 * what is on its way, so that a delay costs time and not throughput.
 */
class Lane {
  constructor(proxy, from, to, { downstream, handshakeMs = 0 }) {
    Object.assign(this, { proxy, from, to, downstream, handshakeMs, queue: [], bytes: 0, timer: null, quietUntil: 0 });
    from.on('data', (chunk) => this.take({ chunk }));
    from.on('end', () => this.take({ end: true }));
    from.on('error', () => {});
    from.on('close', () => { if (!from.readableEnded) to.destroy(); });
  }

  take(part) {
    this.queue.push({ ...part, at: Date.now() + this.proxy.latencyMs / 2 + this.handshakeMs });
    this.handshakeMs = 0;
    this.flush();
  }

  flush() {
    clearTimeout(this.timer);
    if (this.proxy.mode === 'silent') return; // `set` calls again
    const drips = this.downstream && this.proxy.mode === 'drip';
    while (this.queue.length > 0) {
      const part = this.queue[0];
      const due = Math.max(part.at, drips ? this.quietUntil : 0) - Date.now();
      if (due > 0) {
        this.timer = setTimeout(() => this.flush(), due);
        return;
      }
      if (part.end) this.to.end();
      else this.send(part, drips);
      if (part.end || part.chunk.length === 0) this.queue.shift();
    }
  }

  send(part, drips) {
    const bytes = drips ? part.chunk.subarray(0, 1) : part.chunk;
    part.chunk = part.chunk.subarray(bytes.length);
    this.bytes += bytes.length;
    this.quietUntil = Date.now() + DRIP_MS;
    if (!this.to.destroyed) this.to.write(bytes);
  }
}

class Connection {
  constructor(proxy, client) {
    this.sockets = [client, net.connect({ path: proxy.target, allowHalfOpen: true })];
    const [, server] = this.sockets;
    this.up = new Lane(proxy, client, server, { downstream: false, handshakeMs: proxy.latencyMs });
    this.down = new Lane(proxy, server, client, { downstream: true });
  }

  flush() {
    this.up.flush();
    this.down.flush();
  }

  reset() {
    for (const lane of [this.up, this.down]) clearTimeout(lane.timer);
    this.sockets[0].resetAndDestroy();
    this.sockets[1].destroy(); // a unix socket knows no reset
  }
}

export class Proxy {
  /** TARGET: the unix socket of the server behind it. A round trip takes LATENCY_MS, connecting is one. */
  constructor(target, latencyMs = 0) {
    Object.assign(this, { target, latencyMs, mode: 'pass', live: new Set(), port: 0 });
    this.totals = { connections: 0, up: 0, down: 0 };
  }

  /** Accepts connections, the second time on the port of the first. */
  async listen() {
    if (this.server) return this;
    this.server = net.createServer({ allowHalfOpen: true }, (client) => this.accept(client));
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = this.server.address().port;
    return this;
  }

  accept(client) {
    const connection = new Connection(this, client);
    this.live.add(connection);
    this.totals.connections += 1;
    // Until both sides are gone: one that is forgotten half open would keep the test's process from its end.
    let open = connection.sockets.length;
    const closed = () => {
      open -= 1;
      if (open > 0) return;
      this.live.delete(connection);
      this.totals.up += connection.up.bytes;
      this.totals.down += connection.down.bytes;
    };
    for (const socket of connection.sockets) socket.on('close', closed);
  }

  /** `pass`, `silent` (takes everything and passes nothing on), `drip` (one byte a second to the client). */
  set(mode) {
    this.mode = mode;
    for (const connection of this.live) connection.flush();
  }

  /** Resets every connection, both sides. */
  reset() {
    for (const connection of this.live) connection.reset();
  }

  /** Connections are refused from now on, and present ones reset. */
  async refuse() {
    if (!this.server) return;
    const { server } = this;
    this.server = null;
    const closed = once(server, 'close');
    server.close();
    this.reset();
    await closed;
  }
}
