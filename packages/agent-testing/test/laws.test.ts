import { initialAgentState, type AgentInput } from "@moora/agent-core-state-machine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawConfig, drawInput, drawTools, keepLaws, type Choose } from "../src/index.ts";

/** Choices from a list of numbers; when it is used up, the rest of the choices are all the first. */
const choices = (numbers: readonly number[]): Choose => {
  let next = 0;
  return (count) => (numbers[next++] ?? 0) % Math.max(count, 1);
};

/** A conversation of drawn inputs, every one of them held to the laws. */
function drawnConversation(
  numbers: readonly number[],
  length: number,
  replays: boolean,
): readonly AgentInput[] {
  const choose = choices(numbers);
  const from = initialAgentState({ config: drawConfig(choose), tools: drawTools(choose) });
  const keeper = keepLaws({ from, replays });
  for (let count = 0; count < length; count += 1)
    keeper.apply(drawInput(keeper.state, keeper.inputs, choose));
  return keeper.inputs;
}

const numbers = (length: number) => fc.array(fc.nat(), { minLength: length, maxLength: length, size: "max" });

describe("inputs drawn from the state", () => {
  it("keep every law at every step", () => {
    fc.assert(
      fc.property(numbers(400), (drawn) => {
        expect(drawnConversation(drawn, 60, false)).toHaveLength(60);
      }),
      { numRuns: Number(process.env["MOORA_LAW_RUNS"] ?? 300) },
    );
  });

  it("replay to the same bytes after each of them", () => {
    fc.assert(
      fc.property(numbers(200), (drawn) => {
        expect(drawnConversation(drawn, 25, true)).toHaveLength(25);
      }),
      { numRuns: 60 },
    );
  });
});
