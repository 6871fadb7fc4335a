import { effectsAt, llmRequestAt } from "@moora/agent-core-effects";
import {
  agentTransition,
  initialAgentState,
  memoryAt,
  parseInput,
  replay,
  step,
  ignoredReason,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import { afterEach, describe, expect, it, vi } from "vitest";
import { drawConfig, drawInput, drawTools, seededChoose } from "../src/index.ts";

interface Conversation {
  readonly initial: AgentState;
  readonly inputs: readonly AgentInput[];
}

function conversation(seed: number, length: number): Conversation {
  const choose = seededChoose(seed);
  const initial = initialAgentState({ config: drawConfig(choose), tools: drawTools(choose) });
  const inputs: AgentInput[] = [];
  let state = initial;
  for (let count = 0; count < length; count += 1) {
    const input = drawInput(state, inputs, choose);
    inputs.push(input);
    state = agentTransition(input)(state);
  }
  return { initial, inputs };
}

/** Everything that is computed from a state, at every step. */
function derivedTexts({ initial, inputs }: Conversation): readonly string[] {
  let state = initial;
  const lines = inputs.map((input) => {
    const parsed = parseInput(input);
    const before = state;
    state = step(parsed.ok ? parsed.input : input)(state).state;
    return JSON.stringify([
      state,
      effectsAt(state),
      llmRequestAt(state),
      memoryAt(state),
      ignoredReason(input)(before),
    ]);
  });
  return [...lines, JSON.stringify(replay(inputs, initial))];
}

const conversations = Array.from({ length: 150 }, (_, index) => conversation(index + 1, 40));

/** Names of the world that a pure function has no business with. */
const worldly = [
  "Date",
  "crypto",
  "performance",
  "process",
  "fetch",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "clearTimeout",
  "queueMicrotask",
  "Intl",
  "AbortController",
  "TextEncoder",
  "console",
] as const;

describe("the world (A03)", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  it("is not asked while transcripts are folded and effects and requests computed", () => {
    const before = conversations.map(derivedTexts);
    const touched: string[] = [];
    const trap = (name: string) => () => {
      touched.push(name);
      throw new Error(`${name} was used.`);
    };
    vi.spyOn(Math, "random").mockImplementation(trap("Math.random"));
    for (const name of ["localeCompare", "toLocaleLowerCase", "toLocaleUpperCase"] as const)
      vi.spyOn(String.prototype, name).mockImplementation(trap(name));
    for (const prototype of [Number.prototype, Array.prototype, Object.prototype])
      vi.spyOn(prototype, "toLocaleString").mockImplementation(trap("toLocaleString"));
    for (const name of worldly) {
      vi.stubGlobal(
        name,
        new Proxy(() => undefined, { apply: trap(name), construct: trap(name), get: trap(name) }),
      );
    }
    let after: readonly (readonly string[])[] = [];
    let thrown: unknown;
    try {
      after = conversations.map(derivedTexts);
    } catch (error) {
      thrown = error;
    }
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
    expect(thrown).toBeUndefined();
    expect(touched).toEqual([]);
    expect(after).toEqual(before);
  });
});

describe("what was given is left as it was (A04)", () => {
  /** Frozen all the way down, without recursion. */
  const frozen = <T>(value: T): T => {
    const open: unknown[] = [value];
    while (open.length > 0) {
      const next = open.pop();
      if (typeof next !== "object" || next === null || Object.isFrozen(next)) continue;
      Object.freeze(next);
      open.push(...Object.values(next));
    }
    return value;
  };

  it("through 100,000 transitions of frozen states by frozen inputs, with their effects and requests", () => {
    let accepted = 0;
    for (let seed = 1; accepted < 100_000; seed += 1) {
      const choose = seededChoose(200_000 + seed);
      let state = frozen(initialAgentState({ config: drawConfig(choose), tools: drawTools(choose) }));
      const inputs: AgentInput[] = [];
      for (let count = 0; count < 100; count += 1) {
        const input = frozen(drawInput(state, inputs, choose));
        inputs.push(input);
        const next = frozen(agentTransition(input)(state));
        if (next === state) continue;
        accepted += 1;
        frozen(effectsAt(next));
        frozen(llmRequestAt(next));
        state = next;
      }
    }
    expect(accepted).toBeGreaterThanOrEqual(100_000);
  });
});
