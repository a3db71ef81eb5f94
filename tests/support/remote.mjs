// A git host for a test: nginx (TLS of a private CA, a token) with fcgiwrap and git http-backend, reached
// through a proxy with faults. All of it lives in one temporary folder.
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { after } from 'node:test';
import path from 'node:path';
import { promisify } from 'node:util';
import { makeCertificates } from './certificates.mjs';
import { accepts, startDaemon } from './daemon.mjs';
import { Proxy } from './proxy.mjs';

const SLUG = 'bench/data';
const LINGER_MS = 10_000;

// A socket of the host that outlives the tests of a file would hold up the whole suite: it is named, and the process
// ends with what the tests came to.
after(() => setTimeout(() => {
  console.error(`after the last test there was left: ${process.getActiveResourcesInfo().join(', ')}`);
  process.exit();
}, LINGER_MS).unref());
const PERSON = { GIT_AUTHOR_NAME: 'maintainer', GIT_AUTHOR_EMAIL: 'm@example.org', GIT_COMMITTER_NAME: 'maintainer',
  GIT_COMMITTER_EMAIL: 'm@example.org' };

/** A program's surroundings that no configuration of the machine reaches. */
export const gitEnvironment = (folder) => ({ PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0', ...PERSON });

/** Runs git to its end without holding up the proxy, which lives in this process: its standard output. */
export async function runGit(args, { cwd, env }) {
  return (await promisify(execFile)('git', args, { cwd, env, encoding: 'utf8', maxBuffer: 1 << 30 })).stdout;
}

/** A bare repository that plays the remote; what every kind of remote can do. */
class BareRemote {
  constructor(folder, { branch = 'main' }) {
    Object.assign(this, { folder, branch, slug: SLUG });
    this.repo = path.join(folder, 'repositories', `${SLUG}.git`);
  }

  create({ empty = false, from, hooks = {} }) {
    mkdirSync(path.dirname(this.repo), { recursive: true });
    if (from) renameSync(from, this.repo);
    else execFileSync('git', ['init', '--quiet', '--bare', '--template=', '-b', this.branch, this.repo]);
    mkdirSync(path.join(this.repo, 'hooks'), { recursive: true });
    for (const [key, value] of [['http.receivepack', 'true'], ['gc.auto', '0']]) this.git('config', key, value);
    if (!empty && !from) this.commit('README.md', 'A dataset.\n');
    for (const [name, script] of Object.entries(hooks)) this.hook(name, script);
  }

  /** In the bare repository itself; its hooks are for those who push. */
  git(...args) {
    return execFileSync('git', ['--git-dir', this.repo, '-c', 'core.hooksPath=/dev/null', ...args], { maxBuffer: 1 << 30, encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'], env: gitEnvironment(this.folder) });
  }

  /** Commits one file on the tip, as a maintainer would, without a push. Gives the commit. */
  commit(name, content, { message = `change ${name}`, branch = this.branch } = {}) {
    const env = { ...gitEnvironment(this.folder), GIT_DIR: this.repo, GIT_INDEX_FILE: path.join(this.folder, 'index') };
    const git = (args, input) => execFileSync('git', ['-c', 'core.hooksPath=/dev/null', ...args], { env, input, encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'] }).trim();
    const tip = this.tip(branch);
    git(tip ? ['read-tree', tip] : ['read-tree', '--empty']);
    git(['update-index', '--add', '--cacheinfo', `100644,${git(['hash-object', '-w', '--stdin'], content)},${name}`]);
    const made = git(['commit-tree', git(['write-tree']), ...(tip ? ['-p', tip] : []), '-m', message]);
    git(['update-ref', `refs/heads/${branch}`, made, tip ?? '0'.repeat(40)]);
    return made;
  }

  /** The commit at the branch's tip, null without one. */
  tip(branch = this.branch) {
    return this.git('for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`).trim() || null;
  }

  files() {
    return this.git('ls-tree', '-r', '--name-only', this.branch).trim().split('\n');
  }

  /** A file of the tip as a Buffer. */
  file(name) {
    return execFileSync('git', ['--git-dir', this.repo, 'cat-file', 'blob', `${this.branch}:${name}`],
      { maxBuffer: 1 << 30, env: gitEnvironment(this.folder) });
  }

  hook(name, script) {
    const file = path.join(this.repo, 'hooks', name);
    writeFileSync(`${file}.new`, script.startsWith('#!') ? script : `#!/bin/sh\n${script}\n`);
    chmodSync(`${file}.new`, 0o755);
    renameSync(`${file}.new`, file);
  }

  unhook(name) {
    rmSync(path.join(this.repo, 'hooks', name), { force: true });
  }

  /** The repository is gone; `reappear` brings it back. */
  vanish() {
    renameSync(this.repo, `${this.repo}.away`);
  }

  reappear() {
    renameSync(`${this.repo}.away`, this.repo);
  }

  /** Clones by the url into a work tree NAME: {tree, git(...args)}, the latter a promise of what it prints. */
  async clone(name, access = {}) {
    const tree = path.join(this.folder, name);
    const env = { ...gitEnvironment(this.folder), ...this.access(access) };
    await runGit(['clone', '--quiet', this.url, tree], { env });
    return { tree, git: (...args) => runGit(args, { cwd: tree, env }) };
  }
}

export class FileRemote extends BareRemote {
  get url() {
    return `file://${this.repo}`;
  }

  get token() {
    return undefined;
  }

  access() {
    return {};
  }
}

export class HttpRemote extends BareRemote {
  constructor(folder, options) {
    super(folder, options);
    this.anonymousRead = options.anonymousRead ?? false;
    this.token = `token${randomBytes(24).toString('hex')}`;
    this.proxy = new Proxy(path.join(folder, 'nginx.sock'), options.latencyMs);
  }

  get host() {
    return `https://localhost:${this.proxy.port}`;
  }

  get url() {
    return `${this.host}/${SLUG}.git`;
  }

  /** The header that opens the door, for programs that are given it by environment. */
  get authorization() {
    return `Basic ${Buffer.from(`x-access-token:${this.token}`).toString('base64')}`;
  }

  /** What a git client needs in its environment. */
  access({ token = true, caFile = this.caFile } = {}) {
    const headers = token ? { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'http.extraHeader',
      GIT_CONFIG_VALUE_0: `Authorization: ${this.authorization}` } : {};
    return { GIT_SSL_CAINFO: caFile, ...headers };
  }

  async begin() {
    const at = (name) => path.join(this.folder, name);
    const certificates = makeCertificates(this.folder);
    this.caFile = certificates.caFile;
    this.grant();
    writeFileSync(at('nginx.conf'), configuration(this, certificates));
    // Each serves one request at a time, and one of them with several workers would leave those behind.
    this.backends = backendSockets(this.folder).map((socket) => [socket,
      startDaemon('fcgiwrap', ['-s', `unix:${socket}`], { env: gitEnvironment(this.folder) })]);
    this.nginx = startDaemon('nginx', ['-p', this.folder, '-e', 'stderr', '-c', at('nginx.conf')]);
    await Promise.all([...this.backends.map(([socket, backend]) => accepts(backend, socket)),
      accepts(this.nginx, at('nginx.sock')), this.proxy.listen()]);
    this.control = net.createServer((hook) => this.applied(hook));
    this.control.listen(0, '127.0.0.1');
    await once(this.control, 'listening');
  }

  async end() {
    await this.proxy.refuse();
    await Promise.all([this.nginx, ...(this.backends ?? []).map(([, backend]) => backend)].map((one) => one?.stop()));
    this.control?.close();
  }

  /** Nobody can connect; `up` ends it. */
  down() {
    return this.proxy.refuse();
  }

  up() {
    return this.proxy.listen();
  }

  /** TOKEN is let in, and no other. */
  grant(token = this.token) {
    writeFileSync(path.join(this.folder, 'users.new'), `x-access-token:{PLAIN}${token}\n`);
    renameSync(path.join(this.folder, 'users.new'), path.join(this.folder, 'users'));
  }

  /** The service's token is refused with 401 until it is granted again. */
  revoke() {
    this.grant(randomBytes(24).toString('hex'));
  }

  /** Whether a switch that the configuration knows is on: deny-push (403), unavailable (503). */
  turn(name, on) {
    if (on) writeFileSync(path.join(this.folder, name), '');
    else rmSync(path.join(this.folder, name), { force: true });
  }

  denyPush(on = true) {
    this.turn('deny-push', on);
  }

  unavailable(on = true) {
    this.turn('unavailable', on);
  }

  /**
   * The next push is applied, and then every connection is reset before the result is told: git calls the
   * hook when the reference has moved and reports only after it has returned. THEN `down`: nobody can connect
   * from then on. Without it libcurl sends a request anew, by itself, when a connection that it used before
   * ends without an answer: the second one meets a reference that has moved and is refused.
   */
  dropAfterApplied({ then } = {}) {
    this.afterApplied = then === 'down' ? () => this.down() : () => this.proxy.reset();
    this.whenApplied(`exec 3<>/dev/tcp/127.0.0.1/${this.control.address().port}\nread -r done <&3`);
  }

  /** The next push is applied, and then the program that would tell the result dies: half an answer. */
  cutAfterApplied() {
    this.whenApplied('rm -f "$0"\nkill -9 $PPID');
  }

  /** Whether such a fault still waits for its push. */
  get armed() {
    return existsSync(path.join(this.repo, 'hooks', 'reference-transaction'));
  }

  whenApplied(script) {
    this.hook('reference-transaction', `#!/bin/bash\ncat >/dev/null\n[ "$1" = committed ] || exit 0\n${script}\n`);
  }

  async applied(hook) {
    hook.on('error', () => {});
    this.unhook('reference-transaction');
    await this.afterApplied();
    hook.end('done\n');
  }

  /** Every request so far: {method, place, status, bytes (of the request), sent, seconds, length}. */
  requests() {
    const log = path.join(this.folder, 'access.log');
    if (!existsSync(log)) return [];
    return readFileSync(log, 'utf8').split('\n').slice(0, -1).map((line) => {
      const [method, place, status, bytes, sent, seconds, length] = line.split(' ');
      return { method, place, status: Number(status), bytes: Number(bytes), sent: Number(sent),
        seconds: Number(seconds), length };
    });
  }

  /** The pushes among them; a probe of four bytes that goes before a large one is none. */
  pushes() {
    return this.requests().filter(({ method, place, length }) =>
      method === 'POST' && place.endsWith('/git-receive-pack') && length !== '4');
  }
}

const backendSockets = (folder) => Array.from({ length: 6 }, (_, i) => path.join(folder, `fcgi-${i}.sock`));

const configuration = (remote, { certificate, key }) => `
${process.getuid() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid nginx.pid;
error_log error.log;
events { worker_connections 256; }
http {
  log_format requests '$request_method $uri $status $request_length $bytes_sent $request_time $content_length';
  access_log access.log requests;
  client_body_temp_path temporary-body;
  proxy_temp_path temporary-proxy;
  fastcgi_temp_path temporary-fastcgi;
  uwsgi_temp_path temporary-uwsgi;
  scgi_temp_path temporary-scgi;
  client_max_body_size 0;
  upstream backends {
    least_conn;
    ${backendSockets(remote.folder).map((socket) => `server unix:${socket} max_fails=0;`).join('\n    ')}
  }
  map "$arg_service$uri" $wants {
    default read;
    ~git-receive-pack push;
  }
  map $wants $realm {
    push "datasets";
    default ${remote.anonymousRead ? 'off' : '"datasets"'};
  }
  server {
    listen unix:${remote.folder}/nginx.sock ssl;
    server_name localhost;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_certificate ${certificate};
    ssl_certificate_key ${key};
    if (-f ${remote.folder}/unavailable) { return 503; }
    set $denied $wants;
    if (-f ${remote.folder}/deny-push) { set $denied "$wants denied"; }
    if ($denied = "push denied") { return 403; }
    location ~ "^/(?<name>[a-z]+/[a-z]+)(\\.git)?/(?<rest>info/refs|git-upload-pack|git-receive-pack)$" {
      auth_basic $realm;
      auth_basic_user_file ${remote.folder}/users;
      fastcgi_pass backends;
      fastcgi_read_timeout 600s;
      fastcgi_param SCRIPT_FILENAME ${execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim()}/git-http-backend;
      fastcgi_param GIT_PROJECT_ROOT ${remote.folder}/repositories;
      fastcgi_param GIT_HTTP_EXPORT_ALL 1;
      fastcgi_param GIT_PROTOCOL $http_git_protocol;
      fastcgi_param PATH_INFO /$name.git/$rest;
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param QUERY_STRING $query_string;
      fastcgi_param CONTENT_TYPE $content_type;
      fastcgi_param CONTENT_LENGTH $content_length;
      fastcgi_param REMOTE_USER $remote_user;
      fastcgi_param REMOTE_ADDR 127.0.0.1;
    }
    location / { return 404; }
  }
}
`;

function newFolder(t) {
  const folder = mkdtempSync(path.join(tmpdir(), 'benchledger-remote-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/**
 * A git host at https://localhost with one repository, stopped when test T ends.
 * empty: the repository has no commit; else it has one with a README. from: a bare repository to take over.
 * branch: the default branch. latencyMs: of a round trip. hooks: {name: script}. anonymousRead: the token is
 * asked for pushes only.
 */
export async function startRemote(t, options = {}) {
  let remote = null;
  t.after(() => remote?.end()); // before the folder goes
  const folder = newFolder(t);
  remote = new HttpRemote(folder, options);
  remote.create(options);
  await remote.begin();
  return remote;
}

/** The same repository, reached as file://. */
export function startFileRemote(t, options = {}) {
  const remote = new FileRemote(newFolder(t), options);
  remote.create(options);
  return remote;
}
