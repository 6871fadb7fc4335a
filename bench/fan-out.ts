/** A turn of 100 tool calls that run at once: the whole turn, and a call of it, beside a Promise.all of the same. */
import { defineAgent, defineTool, runTask } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { microseconds, table } from "./measure.ts";

const count = 100;
const execute = ({ a }: { readonly [key: string]: unknown }): Promise<number> =>
  Promise.resolve(Number(a) + 1);

const add = defineTool({
  name: "add",
  description: "Adds one.",
  input: { type: "object", properties: { a: { type: "number" } } },
  execute,
});

const agent = defineAgent({
  llm: new MockLlmCaller(({ messages }) =>
    messages.length === 1
      ? callsTools(Array.from({ length: count }, (_, a) => ({ name: "add", arguments: { a } })))
      : answers("All of them."),
  ),
  tools: [add],
  config: { toolCalls: { maxPerTurn: count, maxParallel: count } },
});

const ours = await microseconds(count, () => runTask(agent, "go"), { warmUp: 200, rounds: 10 });
const floor = await microseconds(
  count,
  () => Promise.all(Array.from({ length: count }, (_, a) => execute(JSON.parse(`{"a":${a}}`)))),
  { warmUp: 200, rounds: 10 },
);
console.log(
  table(
    ["fan-out of 100", "µs a call", "ms a turn"],
    [
      ["session", ours.toFixed(1), ((ours * count) / 1_000).toFixed(2)],
      ["Promise.all", floor.toFixed(1), ((floor * count) / 1_000).toFixed(2)],
    ],
  ),
);
