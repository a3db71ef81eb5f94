// The validator beside the page, so that a large file does not hold the page up. Messages: first the module's
// address, answered with {ready} or {failed}; then {name, bytes}, answered with {check, dryRun, markup} or {error}.
// The page sends one when the one before is answered.
import { Validator } from '/client.js';

let validator = null;

function judge({ name, bytes }) {
  const file = new Uint8Array(bytes);
  return {
    check: validator.check(file, { name, anyProtocol: true }),
    dryRun: validator.dryRun(file),
    markup: validator.runPage(file),
  };
}

addEventListener('message', async ({ data }) => {
  if (data.validator) {
    try {
      validator = await Validator.load(data.validator);
      postMessage({ ready: true });
    } catch (error) {
      postMessage({ failed: error.message });
    }
    return;
  }
  try {
    postMessage(judge(data));
  } catch (error) {
    postMessage({ error: error.message });
  }
});
