/** How many events a second a log of 1,000, 10,000 and 100,000 events is folded at, in place and persistently; parsing. */
import { agentTransition, initialAgentState, parseInput, replay } from "@moora/agent-core-state-machine";
import { conversation } from "./conversation.ts";
import { microseconds, table } from "./measure.ts";

const from = initialAgentState({ config: { limits: { maxSteps: 60 }, reflection: { aboveInputTokens: 0 } } });
const rows: string[][] = [];
for (const count of [1_000, 10_000, 100_000]) {
  const inputs = conversation(count);
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

const [, , observed] = conversation(10);
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
