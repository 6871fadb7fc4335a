/**
 * What one step of an agent costs in memory (a model call and a tool call, answered at once), at 10, 100 and 1,000 steps,
 * beside a hand-written loop that does the same with nothing kept but its messages.
 */
import { defineAgent, defineTool, runTask, type Agent } from "@moora/agent";
import { noUsage, type LlmCaller, type LlmMessage, type LlmOutcome, type LlmRequest } from "@moora/llm";

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
  call: async ({ messages }) => outcome(messages.length, steps),
});

const add = defineTool({
  name: "add",
  description: "Adds one.",
  input: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
  execute: async ({ a }) => Number(a) + 1,
});

const agents = new Map<number, Agent>();

async function moora(steps: number): Promise<void> {
  const agent =
    agents.get(steps) ??
    defineAgent({
      llm: model(steps),
      tools: [add],
      config: { maxSteps: steps + 1, reflectAboveInputTokens: 0 },
    });
  agents.set(steps, agent);
  const result = await runTask(agent, "go");
  if (result.steps !== steps) throw new Error(`${result.steps} steps`);
}

/** The floor: the loop that everybody writes first. */
async function byHand(steps: number): Promise<void> {
  const llm = model(steps);
  const messages: LlmMessage[] = [{ role: "user", content: [{ type: "text", text: "go" }] }];
  for (let step = 1; ; step += 1) {
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
      const { a } = JSON.parse(part.arguments) as { a: number };
      results.push({ isError: false, content: String(await Promise.resolve(a + 1)) });
    }
    messages.push({ role: "assistant", turn: answer.turn, results });
    if (results.length === 0) return void step;
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

async function microsecondsPerStep(run: (steps: number) => Promise<void>, steps: number): Promise<number> {
  const rounds = Math.ceil(4_000 / steps);
  for (let round = 0; round < 6 * rounds; round += 1) await run(steps);
  const samples: number[] = [];
  for (let sample = 0; sample < 15; sample += 1) {
    const from = performance.now();
    for (let round = 0; round < rounds; round += 1) await run(steps);
    samples.push(((performance.now() - from) * 1_000) / (rounds * steps));
  }
  return median(samples);
}

console.log("steps   moora µs/step   by hand µs/step");
for (const steps of [10, 100, 1_000]) {
  const ours = await microsecondsPerStep(moora, steps);
  const floor = await microsecondsPerStep(byHand, steps);
  console.log(
    `${String(steps).padStart(5)}   ${ours.toFixed(1).padStart(13)}   ${floor.toFixed(1).padStart(15)}`,
  );
}
