import { defineTool, type Tool } from "@moora/agent";
import type { LlmCaller } from "@moora/llm";
import { answers, callsTools, fails, hangs, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { turn, type TestClock } from "@moora/testbed/test-clock";

/** A tool that takes any object. */
export const toolOf = (
  name: string,
  execute: Parameters<typeof defineTool>[0]["execute"] = () => "ok",
  more: Partial<Parameters<typeof defineTool>[0]> = {},
): Tool => defineTool({ name, description: `Does ${name}.`, input: { type: "object" }, execute, ...more });

/**
 * A model whose first call streams the beginning of a call of `pay`, and then fails, waits, calls it with other arguments, or
 * answers. Its later calls follow a script.
 */
export function draftingLlm(end: "fails" | "hangs" | "differs" | "answers", script: MockScript): LlmCaller {
  const later = new MockLlmCaller(script);
  let isFirst = true;
  return {
    name: "drafting",
    async call(request, options = {}) {
      if (!isFirst) return await later.call(request, options);
      isFirst = false;
      options.onChunk?.({ type: "tool-call", index: 0, name: "pay" });
      options.onChunk?.({ type: "tool-call-delta", index: 0, text: '{"cents":' });
      if (end === "answers") return answers("I changed my mind.");
      if (end === "fails") return fails("overloaded");
      if (end === "differs") return callsTools([{ name: "pay", arguments: { euros: 7 } }]);
      return await new MockLlmCaller([hangs()]).call(request, options);
    },
  };
}

/** Moves the clock second by second until the assertion passes. */
export async function pollsUntil(clock: TestClock, assertion: () => Promise<void>): Promise<void> {
  for (let polls = 0; ; polls += 1) {
    await clock.advanceAsync(1_000);
    for (let turns = 0; turns < 20; turns += 1) await turn();
    try {
      return await assertion();
    } catch (error) {
      if (polls >= 60) throw error;
    }
  }
}
