/**
 * What one step of an agent costs in memory (a model call and a tool call, answered at once) at 10, 100 and 1,000 steps:
 * in a session, and by hand without one; beside a hand-written loop that keeps nothing but its messages.
 */
import {
  agentTransition,
  defineAgent,
  defineTool,
  effectsAt,
  initialStateOf,
  runTask,
  userMessage,
  type Agent,
} from "@moora/agent";
import { defaultRunLimits, syncInputs, programOf, type EffectHost } from "@moora/agent-core-effects";
import { noUsage, type LlmCaller, type LlmMessage, type LlmOutcome, type LlmRequest } from "@moora/llm";
import { microseconds, table } from "./measure.ts";

const outcome = (step: number, steps: number): LlmOutcome => ({
  ok: true,
  model: "m",
  usage: { ...noUsage, inputTokens: 10, outputTokens: 5 },
  finish: { unified: step < steps ? "tool-calls" : "stop", raw: "" },
  turn: {
    origin: "bench",
    parts:
      step < steps
        ? [{ type: "tool-call", id: "c", name: "add", arguments: '{"a":1}' }]
        : [{ type: "text", text: "That was all of it." }],
  },
});

/** Answers by the length of the conversation: the first message, then one turn a step. */
const model = (steps: number): LlmCaller => ({
  name: "bench",
  call: ({ messages }) => Promise.resolve(outcome(messages.length, steps)),
  callSync: ({ messages }) => outcome(messages.length, steps),
});

const add = defineTool({
  name: "add",
  description: "Adds one.",
  input: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
  execute: ({ a }) => Number(a) + 1,
});

const agents = new Map<number, Agent>();

function agentOf(steps: number): Agent {
  const config = { limits: { maxSteps: steps + 1 }, reflection: { aboveInputTokens: 0 } };
  const agent = agents.get(steps) ?? defineAgent({ llm: model(steps), tools: [add], config });
  agents.set(steps, agent);
  return agent;
}

async function inASession(steps: number): Promise<void> {
  const result = await runTask(agentOf(steps), "go");
  if (result.steps !== steps) throw new Error(`${result.steps} steps`);
}

/** The reducer, its effects and their hands, driven by a loop. */
function driven(steps: number): void {
  const agent = agentOf(steps);
  const { parts } = agent;
  const host: EffectHost = {
    parts,
    limits: defaultRunLimits,
    sessionId: "bench",
    clock: { now: () => 1, after: () => () => undefined },
    signal: new AbortController().signal,
    notify: () => undefined,
    digestOf: () => "",
    synchronous: true,
  };
  let state = agentTransition(userMessage("go", { messageId: "m", timestamp: 1 }))(initialStateOf(agent));
  for (
    let [effect] = Object.values(effectsAt(state));
    effect !== undefined;
    [effect] = Object.values(effectsAt(state))
  )
    for (const input of syncInputs(programOf(effect, state, host))) state = agentTransition(input)(state);
}

/** The floor: the loop of a first prototype. */
async function byHand(steps: number): Promise<void> {
  const llm = model(steps);
  const messages: LlmMessage[] = [{ role: "user", content: [{ type: "text", text: "go" }] }];
  for (;;) {
    const request: LlmRequest = {
      purpose: "plan",
      model: "m",
      system: "",
      messages: [...messages],
      tools: [],
      toolChoice: "auto",
      parallelToolCalls: true,
      settings: {},
    };
    const answer = await llm.call(request);
    if (!answer.ok) throw new Error(answer.failure.message);
    const results: { isError: boolean; content: string }[] = [];
    for (const part of answer.turn.parts) {
      if (part.type !== "tool-call") continue;
      const { a } = JSON.parse(part.arguments);
      results.push({ isError: false, content: String(await Promise.resolve(Number(a) + 1)) });
    }
    messages.push({ role: "assistant", turn: answer.turn, results });
    if (results.length === 0) return;
  }
}

const rows: string[][] = [];
for (const steps of [10, 100, 1_000]) {
  const options = { warmUp: Math.ceil(30_000 / steps), rounds: Math.ceil(4_000 / steps) };
  const ways = [inASession, driven, byHand];
  const costs: number[] = [];
  for (const way of ways) costs.push(await microseconds(steps, () => way(steps), options));
  rows.push([String(steps), ...costs.map((cost) => cost.toFixed(1))]);
}
console.log(table(["steps", "session µs/step", "reducer and effects µs/step", "by hand µs/step"], rows));
