import { defineAgent, defineTool, exportSession, openSession, type Agent } from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import type { LlmCaller } from "@moora/llm";
import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import * as z from "zod";
import { beforeAll, describe, expect, it } from "vitest";
import { replayedSession, replayPortable, ReplayDiffers } from "../src/index.ts";

interface Variant {
  readonly rate?: number;
  readonly systemPrompt?: string;
  readonly threshold?: number;
}

/** Refunds at a rate; above a threshold a person has to approve. */
const refundAgent = (llm: LlmCaller, { rate = 1, systemPrompt = "", threshold = 50 }: Variant = {}): Agent =>
  defineAgent({
    name: "refunds",
    llm,
    systemPrompt,
    tools: [
      defineTool({
        name: "refund",
        description: "Refunds an amount.",
        input: z.object({ euros: z.number() }),
        execute: ({ euros }) => `${euros * rate} euros refunded`,
      }),
    ],
    config: { approval: { policy: { predicate: "large" } } },
    predicates: { large: ({ parameters }) => JSON.parse(parameters).euros > threshold },
  });

const log: EventLog = memoryLog();
let exported: string;

/** A session of two questions: a refund after one failed call, and a thank-you. */
beforeAll(async () => {
  const llm = new MockLlmCaller([
    callsTools([{ name: "refund", arguments: { euros: 40 } }]),
    answers("Refunded."),
    fails("auth"),
    answers("You are welcome."),
  ]);
  await using session = await openSession(refundAgent(llm), { log, id: "recorded" });
  await session.ask("Refund 40 euros.");
  await session.ask("Thanks.").then(undefined, () => undefined);
  await session.ask("Hello?");
  exported = await exportSession(log, "recorded");
});

const run = async (agent: Agent, ...texts: readonly string[]): Promise<readonly string[]> => {
  await using session = await openSession(agent, { log: memoryLog(), id: "again" });
  const answered: string[] = [];
  for (const text of texts) {
    answered.push(
      await session.ask(text).then(
        (result) => result.text,
        (error: unknown) => String(error),
      ),
    );
  }
  const results = Object.values(session.current().toolCalls).map(({ result }) =>
    result?.isSuccess === true ? result.content : "failed",
  );
  return [...results, ...answered];
};

describe("a recorded model", () => {
  it("answers with the recorded turns and failures in their order", async () => {
    const llm = await replayedSession(log, "recorded");
    expect(llm.left).toBe(4);
    const [result, ...answered] = await run(refundAgent(llm), "Refund 40 euros.", "Thanks.", "Hello?");
    expect([result, answered[0], answered[2]]).toEqual([
      "40 euros refunded",
      "Refunded.",
      "You are welcome.",
    ]);
    expect(answered[1]).toContain("auth");
    expect(llm.left).toBe(0);
  });

  it("runs other tools and another prompt against the old turns", async () => {
    const agent = refundAgent(await replayedSession(log, "recorded"), {
      rate: 2,
      systemPrompt: "Be polite.",
    });
    expect(await run(agent, "Refund 40 euros.")).toEqual(["80 euros refunded", "Refunded."]);
  });

  it("fails with a message for a request after another message of the user", async () => {
    const agent = refundAgent(await replayedSession(log, "recorded"));
    const [answer] = await run(agent, "Refund 41 euros.");
    expect(answer).toContain('The recorded session "recorded" has no answer for this request.');
    expect(answer).toContain("Refund 41 euros.");
    expect(answer).toContain("Its next answer is to: purpose plan, 1 user messages, the last one");
  });

  it("fails with a message past the end of the recording", async () => {
    const llm = await replayedSession(log, "recorded");
    const answered = await run(refundAgent(llm), "Refund 40 euros.", "Thanks.", "Hello?", "Hello?");
    expect(answered.at(-1)).toContain("All of its answers were used.");
  });

  it("is refused for a session that is not there", async () => {
    await expect(replayedSession(log, "nosuch")).rejects.toMatchObject({ code: "SessionUnknown" });
  });
});

describe("a recorded session, replayed with an agent", () => {
  const llm = new MockLlmCaller([]);

  it("passes for the agent that made it", async () => {
    await expect(replayPortable(exported, { agent: refundAgent(llm) })).resolves.toMatchObject({
      header: { agent: { name: "refunds" } },
    });
  });

  it("names the requests that a changed prompt makes, and where they differ", async () => {
    const agent = refundAgent(llm, { systemPrompt: "Be polite." });
    const error: unknown = await replayPortable(exported, { agent }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ReplayDiffers);
    expect(error).toMatchObject({ seq: 2 });
    expect(String(error)).toContain('after record 2, request.system: recorded "", now "Be polite."');
  });

  it("names the effects that a changed policy wants, and stops there", async () => {
    const agent = refundAgent(llm, { threshold: 30 });
    const error: unknown = await replayPortable(exported, { agent }).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain("call-tool call_1 refund");
    expect(String(error)).toContain("ask-human call_1 approval refund");
  });

  it("folds as ever without an agent", async () => {
    const { inputs, walk } = await replayPortable(exported);
    expect(inputs.length).toBeGreaterThan(8);
    expect(walk).toContain("Planning --LlmToolCall--> Acting");
  });
});
