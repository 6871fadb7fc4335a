import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { asRead } from "@moora/testbed/as-read";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  defineAgent,
  defineTool,
  InputRefused,
  runTask,
  type Agent,
  type ErrorReport,
  type OnApproval,
} from "../../src/index.ts";

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

/** What the model reads: no details of what failed. */
const refusal = "A human rejected this call: The reviewer gave no valid decision.";

// What a host without types may say.
const untyped = (value: unknown): ReturnType<OnApproval> => JSON.parse(JSON.stringify(value));

describe("a decision of onApproval that cannot be taken", () => {
  it.each([
    ["arguments that do not fit the tool", untyped({ approve: { path: 1 } }), /^decision\.approve: path: /],
    ["an answer where nothing was asked for one", untyped({ answer: "yes" }), /does not answer a question/],
    ["an invalid decision", untyped(true), /A decision must be "approve"/],
    ["a rejection without a reason", untyped({ reject: null }), /A decision must be "approve"/],
  ])("counts as a rejection and is reported to onError: %s", async (_, decision, message) => {
    const { agent, llm } = careful();
    const reports: ErrorReport[] = [];
    const { text, state } = await runTask(agent, "Remove it.", {
      onApproval: () => decision,
      onError: (report) => reports.push(report),
    });
    expect(text).toBe("It is done.");
    expect(state.toolCalls["call_1"]?.decision).toMatchObject({ type: "rejected", by: "host" });
    expect(asRead(state.toolCalls["call_1"]?.result)).toMatchObject({ code: "rejected", error: refusal });
    expect(llm.callCount).toBe(2);
    expect(reports).toEqual([
      {
        source: "listener",
        key: "ask/call_1/1/1/0",
        error: expect.objectContaining({ message: expect.stringMatching(message) }),
      },
    ]);
    expect(reports[0]?.error).toBeInstanceOf(InputRefused);
  });
});

describe("an onApproval that fails", () => {
  const failure = new Error("connect ECONNREFUSED 10.0.0.7:5432");

  it.each<[string, OnApproval]>([
    [
      "throws",
      () => {
        throw failure;
      },
    ],
    ["rejects", () => Promise.reject(failure)],
  ])(
    "and %s is reported to onError, and the model reads only that there is no decision",
    async (_, onApproval) => {
      const { agent, llm } = careful();
      const reports: ErrorReport[] = [];
      const run = runTask(agent, "Remove it.", { onApproval, onError: (report) => reports.push(report) });
      expect((await run).text).toBe("It is done.");
      expect(reports).toEqual([{ source: "listener", key: "ask/call_1/1/1/0", error: failure }]);
      const sent = JSON.stringify(llm.requests.at(-1));
      expect(sent).toContain(refusal);
      expect(sent).not.toContain("ECONNREFUSED");
    },
  );
});
