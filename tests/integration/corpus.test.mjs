// Point 1 of the main job: the real run files verify, to the last bit.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { checkBytes, entryOf, readJson, verdict } from '../bench/baseline.mjs';
import { lines, run } from '../support/checker.mjs';
import { corpusFiles, NO_CORPUS } from '../support/corpus.mjs';

test('every real run file verifies, is summed up as its client did and published unchanged', { skip: NO_CORPUS },
  async (t) => {
  const files = corpusFiles();
  t.diagnostic(`${files.length} files`);
  const { status, stdout } = run(['check', '--json', '--any-protocol', ...files]);
  assert.equal(status, 0, stdout.toString());
  const verdicts = lines(stdout);
  for (const [i, file] of files.entries()) {
    await t.test(path.basename(file), () => {
      const bytes = readFileSync(file);
      const run1 = readJson(bytes);
      const found = JSON.parse(verdicts[i]);
      assert.equal(found.ok, true);
      assert.equal(found.digest, 'ok');
      assert.deepEqual(found.shapeErrors, []);
      assert.deepEqual(found.flags.filter(({ severity }) => severity === 'reject'), []);
      assert.equal(JSON.stringify(found.summaries), JSON.stringify(run1.clientSummaries));
      const expected = checkBytes(file, bytes);
      assert.equal(JSON.stringify(found.summaries), JSON.stringify(expected.summaries));
      assert.ok(run(['scrub', file]).stdout.equals(bytes), 'scrub gives back the bytes');
      assert.equal(run(['entry', file]).stdout.toString().trimEnd(), JSON.stringify(entryOf(run1, verdict(run1))));
      assert.equal(run(['digest', file]).stdout.toString().trim(), run1.digest);
    });
  }
});
