// How a runner uses client.js. From another origin import it by its whole address: https://HOST/client.js
import { check, exportRun, submit } from '/client.js';

const find = (id) => document.getElementById(id);
const say = (text) => { find('said').textContent = text; };
const on = (id, work) => find(id).addEventListener('click', async () => {
  try {
    await work(JSON.parse(find('run').value));
  } catch (error) {
    say(`${error.code ?? 'no run'}: ${error.message}`);
  }
});

on('check', async (run) => {
  const { ok, flags, dryRun } = await check(run); // nothing is sent
  say(ok ? 'fine' : `${dryRun.message ?? ''} ${flags.map(({ code }) => code).join(' ')}`);
});

on('submit', async (run) => {
  const onProgress = ({ stage, seconds }) => say(seconds ? `${stage} ${seconds} s` : stage);
  const { outcome, page } = await submit(run, { onProgress }).catch(async (error) => {
    if (error.away) await exportRun(run); // the service is not there for it: keep it as a file
    throw error;
  });
  say(`${outcome}: ${page}`);
});
