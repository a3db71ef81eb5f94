// Runs the offline commands of the real binary over made-up files.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const BINARY = process.env.BENCHLEDGER_BINARY;
if (!BINARY) throw new Error('BENCHLEDGER_BINARY names the binary to test');

/** Runs the binary to its end: {status, stdout, stderr}, the output as bytes. */
export function run(args, input) {
  const { status, signal, stdout, stderr, error } = spawnSync(BINARY, args, { input, maxBuffer: 1 << 30 });
  if (error) throw error;
  if (signal) throw new Error(`${args[0]} ended by ${signal}: ${stderr}`);
  return { status, stdout, stderr: stderr.toString() };
}

/** A folder of its own for a test file or program; `close` removes it. */
export class Folder {
  constructor() {
    this.path = mkdtempSync(path.join(tmpdir(), 'benchledger-files-'));
  }

  /** Writes a run (or text, or bytes) and gives the file's name. */
  write(name, content) {
    const file = path.join(this.path, name);
    writeFileSync(file, typeof content === 'string'
      || Buffer.isBuffer(content) ? content : JSON.stringify(content));
    return file;
  }

  close() {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export const lines = (output) => output.toString('utf8').split('\n').slice(0, -1);

/** `check --json` over CONTENTS in one process: {status, verdicts}. */
export function check(contents, options = []) {
  const folder = new Folder();
  try {
    const files = contents.map((content, i) => folder.write(`${i}.json`, content));
    const { status, stdout, stderr } = run(['check', '--json', ...options, ...files]);
    const verdicts = lines(stdout).map((line) => JSON.parse(line));
    if (verdicts.length !== files.length) throw new Error(`${verdicts.length} lines for ${files.length} files: ${stderr}`);
    return { status, verdicts };
  } finally {
    folder.close();
  }
}
