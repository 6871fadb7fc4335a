import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineAgent, defineTool, runTask, type Agent, type OnApproval } from "../../src/index.ts";

const remove = defineTool({
  name: "remove",
  description: "Removes a file.",
  input: z.object({ path: z.string() }),
  execute: ({ path }) => `removed ${path}`,
});

const careful = (): { readonly agent: Agent; readonly llm: MockLlmCaller } => {
  const llm = new MockLlmCaller([
    callsTools([{ name: "remove", arguments: { path: "/a" } }]),
    answers("It is done."),
  ]);
  return { llm, agent: defineAgent({ llm, tools: [remove], config: { approval: { policy: "always" } } }) };
};

// What a host without types may say.
const untyped = (value: unknown): ReturnType<OnApproval> => JSON.parse(JSON.stringify(value));

describe("a decision of onApproval that cannot be taken", () => {
  it.each([
    ["arguments that do not fit the tool", untyped({ approve: { path: 1 } }), /^.*Asking failed: path: /],
    ["an answer where nothing was asked for one", untyped({ answer: "yes" }), /does not answer the question/],
    ["an invalid decision", untyped(true), /A decision must be "approve"/],
    ["a rejection without a reason", untyped({ reject: null }), /A decision must be "approve"/],
  ])("counts as a rejection and does not leave the question open: %s", async (_, decision, reason) => {
    const { agent, llm } = careful();
    const { text, state } = await runTask(agent, "Remove it.", { onApproval: () => decision });
    expect(text).toBe("It is done.");
    expect(state.toolCalls["call_1"]).toMatchObject({
      decision: { type: "rejected", by: "host" },
      result: { isSuccess: false, code: "rejected", error: expect.stringMatching(reason) },
    });
    expect(llm.callCount).toBe(2);
  });
});
