/** How many events a second a log of 1,000, 10,000 and 100,000 events is folded at, in place and persistently; parsing. */
import {
  agentTransition,
  initialAgentState,
  parseInput,
  replay,
  type AgentInput,
} from "@moora/agent-core-state-machine";
import { microseconds, table } from "./measure.ts";

/** Steps of a model call and a tool call, four events each, in one conversation of loops of 50 steps. */
function events(count: number): readonly AgentInput[] {
  const inputs: AgentInput[] = [];
  for (let loop = 1, call = 0; inputs.length < count; loop += 1) {
    inputs.push({
      type: "user-message-received",
      messageId: `m${loop}`,
      content: "Go on, please.",
      timestamp: loop,
    });
    for (let step = 1; step <= 50; step += 1) {
      const key = `plan/${loop}/${step}/1`;
      const last = step === 50;
      const id = String((call += last ? 0 : 1));
      inputs.push({ type: "llm-call-started", key, timestamp: loop });
      inputs.push({
        type: "re-act-observed",
        key,
        messageId: `msg_${loop}_${step}`,
        calledLlmAt: loop,
        timestamp: loop,
        turn: {
          origin: "bench",
          parts: last ? [{ type: "text", text: "Done with it." }] : [{ type: "call", toolCallId: id }],
        },
        observation: last
          ? { type: "complete-re-act" }
          : {
              type: "continue-re-act",
              toolCalls: { [id]: { name: "add", parameters: '{"a":1}', calledAt: loop } },
            },
        usage: {
          inputTokens: 1,
          cachedInputTokens: 0,
          cacheWriteTokens: 0,
          outputTokens: 1,
          reasoningTokens: 0,
        },
      });
      if (last) continue;
      inputs.push({ type: "tool-call-started", toolCallId: id, attempt: 1, timestamp: loop });
      const result = { isSuccess: true, content: "2", receivedAt: loop } as const;
      inputs.push({
        type: "tool-call-completed",
        toolCallId: id,
        key: `tool/${id}/1`,
        result,
        timestamp: loop,
      });
    }
  }
  return inputs.slice(0, count);
}

const from = initialAgentState({ config: { maxSteps: 60, reflectAboveInputTokens: 0 } });
const rows: string[][] = [];
for (const count of [1_000, 10_000, 100_000]) {
  const inputs = events(count);
  const rounds = Math.ceil(50_000 / count);
  const fold = await microseconds(count, () => replay(inputs, from), {
    warmUp: 3 * rounds,
    rounds,
    samples: 9,
  });
  const persistent =
    count > 10_000
      ? Number.NaN
      : await microseconds(
          count,
          () => inputs.reduce((state, input) => agentTransition(input)(state), from),
          {
            warmUp: rounds,
            rounds,
            samples: 9,
          },
        );
  rows.push([
    count.toLocaleString("en"),
    Math.round(1_000_000 / fold).toLocaleString("en"),
    Number.isNaN(persistent) ? "" : Math.round(1_000_000 / persistent).toLocaleString("en"),
  ]);
}
console.log(table(["events", "folded a second, in place", "a second, persistently"], rows));

const [, , observed] = events(10);
const parse = await microseconds(1_000, () => {
  for (let count = 0; count < 1_000; count += 1) parseInput(observed);
});
const text = JSON.stringify(observed);
const json = await microseconds(1_000, () => {
  for (let count = 0; count < 1_000; count += 1) JSON.parse(text);
});
console.log(
  table(
    ["an observation with one call", "µs"],
    [
      ["parseInput", parse.toFixed(2)],
      ["JSON.parse", json.toFixed(2)],
    ],
  ),
);
