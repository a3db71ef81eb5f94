// Watches for secrets where they must never appear: logs, answers, command lines, committed bytes, files.
import { spawn } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const SAMPLE_MS = 20;

/** Calls TELL(pid, command line) for every process there is. */
export function eachProcess(tell) {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      tell(Number(name), readFileSync(`/proc/${name}/cmdline`, 'latin1'));
    } catch { /* it has ended */ }
  }
}

/** What of an Ed25519 private key file would be the key, in the forms it may be printed. */
function privateForms(file) {
  const text = readFileSync(file, 'utf8');
  try {
    const seed = Buffer.from(createPrivateKey(text).export({ format: 'jwk' }).d, 'base64url');
    return [...['base64', 'base64url', 'hex'].map((form) => seed.toString(form).replace(/=+$/, '')),
      ...text.split('\n').filter((line) => line.length > 40 && !line.startsWith('-'))];
  } catch {
    return text.match(/[A-Za-z0-9+/_-]{40,}/g) ?? []; // not PEM: its only long word is the key
  }
}

function* filesBelow(folder) {
  for (const found of readdirSync(folder, { withFileTypes: true })) {
    const name = path.join(folder, found.name);
    if (found.isDirectory()) yield* filesBelow(name);
    else if (found.isFile()) yield name;
  }
}

export class SecretWatch {
  constructor() {
    this.needles = []; // {name, text}
    this.found = new Set();
    this.samples = 0;
    this.gitSeen = new Set(); // what the samples can have seen: command lines of git
  }

  /** TEXT must not appear, nor its base64, nor, for a token, what HTTP makes of it. */
  add(name, text) {
    if (!text) return;
    for (const form of [text, Buffer.from(text).toString('base64').replace(/=+$/, ''),
      Buffer.from(`x-access-token:${text}`).toString('base64').replace(/=+$/, '')])
      this.needles.push({ name, text: form });
  }

  addPrivateKey(file) {
    const forms = privateForms(file);
    if (forms.length === 0) throw new Error(`there is no key in ${file}`);
    for (const text of forms) this.needles.push({ name: 'receipt key', text });
  }

  look(where, text) {
    for (const needle of this.needles)
      if (text.includes(needle.text)) this.found.add(`${needle.name} in ${where}`);
  }

  /** Samples the command lines of all processes until the test ends. */
  begin(t) {
    const timer = setInterval(() => this.sample(), SAMPLE_MS);
    timer.unref();
    t.after(() => clearInterval(timer));
  }

  sample() {
    this.samples += 1;
    eachProcess((pid, line) => {
      if (/^(\S*\/)?git\0/.test(line)) this.gitSeen.add(line);
      this.look(`a command line: ${line.replaceAll('\0', ' ').slice(0, 80)}`, line);
    });
  }

  /** All objects of a repository, whether reachable or not. */
  async lookAtObjects(repository) {
    const child = spawn('git', ['--git-dir', repository, 'cat-file', '--batch-all-objects', '--batch', '--unordered',
      '--buffer'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const longest = Math.max(...this.needles.map(({ text }) => text.length));
    let carry = '', bytes = 0;
    child.stdout.on('data', (data) => {
      bytes += data.length;
      const text = carry + data.toString('latin1');
      this.look(`an object of ${path.basename(repository)}`, text);
      carry = text.slice(-longest);
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`git cat-file ended with ${code} in ${repository}`);
    return bytes;
  }

  /** Every file below FOLDER but git's objects. */
  lookAtFiles(folder) {
    for (const file of filesBelow(folder))
      if (!/\/objects\//.test(file) && statSync(file).size < 1 << 24) this.look(file, readFileSync(file, 'latin1'));
  }

  /** Throws when a secret was seen, or is to be seen now in what SERVICES and REMOTES hold. */
  async check(services, remotes) {
    for (const service of services) {
      this.look('a log', service.allLogs);
      if (existsSync(service.state)) this.lookAtFiles(service.state);
      if (existsSync(service.mirrorPath)) await this.lookAtObjects(service.mirrorPath);
    }
    for (const remote of remotes) await this.lookAtObjects(remote.repo);
    if (this.samples === 0) throw new Error('no command line was looked at');
    if (this.found.size > 0) throw new Error(`secrets were seen:\n${[...this.found].join('\n')}`);
  }
}
