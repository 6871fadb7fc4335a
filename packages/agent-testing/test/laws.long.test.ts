import { initialAgentState } from "@moora/agent-core-state-machine";
import { describe, expect, it } from "vitest";
import { drawConfig, drawInput, drawTools, keepLaws, seededChoose, type LawKeeper } from "../src/index.ts";

/** A conversation of drawn inputs, every one of them held to the laws. The seed is in the message when one breaks. */
function drawnConversation(seed: number, length: number, replays: boolean): LawKeeper {
  const choose = seededChoose(seed);
  const from = initialAgentState({
    config: drawConfig(choose),
    tools: drawTools(choose),
    ...(choose(3) === 0 ? { activeAgent: "triage" } : {}),
  });
  const keeper = keepLaws({ from, replays });
  try {
    for (let count = 0; count < length; count += 1)
      keeper.apply(drawInput(keeper.state, keeper.inputs, choose));
  } catch (cause) {
    throw new Error(`seed ${seed}, after ${keeper.inputs.length} inputs`, { cause });
  }
  return keeper;
}

const seeds = (from: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => from + index);

describe("inputs drawn from the state", () => {
  it("keep every law at every step", () => {
    const edges = new Set<string>();
    const notes = new Set<string>();
    for (const seed of seeds(1, 500)) {
      for (const { from, event, note } of drawnConversation(seed, 60, false).moves) {
        edges.add(`${from} ${event}`);
        if (note !== undefined) notes.add(note.data === undefined ? "text" : "text and data");
      }
    }
    expect(edges.size).toBeGreaterThan(37);
    expect([...notes].toSorted()).toEqual(["text", "text and data"]);
  });

  it("keep them in long conversations", () => {
    for (const seed of seeds(10_000, 10))
      expect(drawnConversation(seed, 500, false).inputs).toHaveLength(500);
  });

  it("replay to the same bytes after each of them", () => {
    for (const seed of seeds(20_000, 60)) expect(drawnConversation(seed, 30, true).inputs).toHaveLength(30);
  });
});
