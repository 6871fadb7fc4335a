import { answers, callsTools, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import type { LlmRequest } from "@moora/llm";
import { describe, expect, it } from "vitest";
import {
  defineAgent,
  headerToState,
  runTask,
  startSession,
  textToHeader,
  type AgentConfigChange,
} from "../../src/index.ts";
import { failureOf, toolOf } from "../support.ts";

/** A model that calls a tool again and again, with arguments by the number of the call. */
const insists = (
  argumentOf: (call: number) => { readonly [name: string]: string | number } = () => ({ path: "a" }),
  stopsAt = 100,
): MockLlmCaller =>
  new MockLlmCaller((_, call): MockStep =>
    call < stopsAt ? callsTools([{ name: "read", arguments: argumentOf(call) }]) : answers("Done."),
  );

const limited: AgentConfigChange = { limits: { maxRepeatedCalls: 10 } };

const agentOf = (llm: MockLlmCaller, read: () => string = () => "the text", config = limited) =>
  defineAgent({ llm, tools: [toolOf("read", read)], config });

const notesIn = (request: LlmRequest | undefined): readonly string[] =>
  (request?.messages ?? []).flatMap((message) => (message.role === "note" ? [message.text] : []));

const warning =
  "Your last 5 turns have made the same calls and got the same results. Another one will not change that, and the task fails after 10: do something else, or answer.";

describe("the same call with the same result, again and again", () => {
  it("is named to the model after five, once, and ends the loop at its limit", async () => {
    const llm = insists();
    const error = await failureOf(runTask(agentOf(llm), "q"));
    expect(llm.requests.map(notesIn)).toEqual(
      Array.from({ length: 10 }, (_, index) => (index < 5 ? [] : [warning])),
    );
    expect(error).toMatchObject({
      kind: "AgentFailed",
      reason: "RepeatedCalls",
      message: "The model has repeated the same calls, with the same results. limits.maxRepeatedCalls is 10.",
    });
  });

  it("ends the loop also where the calls fail, and where a turn makes several", async () => {
    const broken = insists();
    const throws = (): never => {
      throw new Error("Not found.");
    };
    expect(await failureOf(runTask(agentOf(broken, throws), "q"))).toMatchObject({ reason: "RepeatedCalls" });
    const both = new MockLlmCaller(() =>
      callsTools([{ name: "read" }, { name: "read", arguments: { path: "b" } }]),
    );
    expect(await failureOf(runTask(agentOf(both), "q"))).toMatchObject({ reason: "RepeatedCalls" });
    expect([broken.callCount, both.callCount]).toEqual([10, 10]);
  });

  it("is another one where the result differs, as for a tool that polls, or an argument", async () => {
    let percent = 0;
    const polls = insists(undefined, 12);
    expect(
      (
        await runTask(
          agentOf(polls, () => `${(percent += 1)} %`),
          "q",
        )
      ).text,
    ).toBe("Done.");
    const reads = insists((call) => ({ path: call % 2 }), 12);
    expect((await runTask(agentOf(reads), "q")).text).toBe("Done.");
    for (const { requests } of [polls, reads]) expect(requests.flatMap(notesIn)).toEqual([]);
  });

  it("is counted from the newest message, and from a new attempt", async () => {
    const llm = insists();
    const config = { limits: { maxRepeatedCalls: 4 } };
    const session = startSession(
      agentOf(
        llm,
        () => {
          if (llm.callCount === 3) void session.send("Continue.");
          return "the text";
        },
        config,
      ),
    );
    expect(await failureOf(session.ask("q"))).toMatchObject({ reason: "RepeatedCalls" });
    expect(llm.callCount).toBe(7);
    await session.retry();
    await session.settled();
    expect(llm.callCount).toBe(11);
  });

  it("is named once where a summary follows", async () => {
    const llm = new MockLlmCaller(({ purpose }, call) =>
      purpose === "reflect"
        ? answers("A summary.")
        : call < 9
          ? callsTools([{ name: "read" }])
          : answers("Done."),
    );
    const { state } = await runTask(agentOf(llm, undefined, { reflection: { everyNSteps: 5 } }), "q");
    const notes = state.transcript.filter((entry) => entry.type === "note");
    expect(notes).toHaveLength(1);
  });

  it("is not limited in a session whose header a release without the limit has written", () => {
    const limits = { maxSteps: 7, minAnswerLength: 0, minConfidence: 0.4 };
    const agent = { name: "a", version: "1" };
    const header = textToHeader(
      JSON.stringify({ format: 2, rules: 2, agent, config: { limits }, tools: {} }),
    );
    expect(headerToState(header).config.limits).toEqual(limits);
  });

  it("is named, and not limited, without a limit", async () => {
    const llm = insists(undefined, 12);
    expect((await runTask(agentOf(llm, undefined, {}), "q")).text).toBe("Done.");
    expect(notesIn(llm.requests.at(-1))).toEqual([warning.replace(", and the task fails after 10", "")]);
  });
});
