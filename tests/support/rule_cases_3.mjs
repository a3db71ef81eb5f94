// Every clause that rule set 3 adds to set 2, as a run that breaks it and runs that just do not.
// A case: {name, mutate(run), flags: [[code, severity, cellId?]...]}: those of set 3's own rules.
const LLM = 'webllm/smollm2-135m/chat-pp128-tg128';

const llm = (run) => run.cells.find((cell) => cell.workloadKind === 'llm-generate');

export const RULE_CASES_3 = [
  { name: 'an honest run', mutate() {}, flags: [] },
  { name: 'two iterations', mutate(run) { llm(run).iterations.length = 2; }, flags: [['few-iterations', 'warn', LLM]] },
];
