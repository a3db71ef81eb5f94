// The real run files beside the repository, when they are there.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../../shared/corpus/runs', import.meta.url));

/** Names of the real run files, in order; empty when there are none. */
export function corpusFiles(folder = FOLDER) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
    (a.name < b.name ? -1 : 1)).flatMap((found) => {
    const name = path.join(folder, found.name);
    if (found.isDirectory()) return corpusFiles(name);
    return found.name.endsWith('.json') ? [name] : [];
  });
}

export const NO_CORPUS = corpusFiles().length > 0 ? false : 'the real run files are not beside the repository';
