import { defineAgent, defineTool, exportSession, openSession, type Agent } from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import type { LlmCaller } from "@moora/llm";
import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import * as z from "zod";
import { beforeAll, describe, expect, it } from "vitest";
import { replayPortable, ReplayDiffers } from "../src/index.ts";

interface Variant {
  readonly systemPrompt?: string;
  readonly threshold?: number;
}

/** Refunds; above a threshold a person has to approve. */
const refundAgent = (llm: LlmCaller, { systemPrompt = "", threshold = 50 }: Variant = {}): Agent =>
  defineAgent({
    name: "refunds",
    llm,
    systemPrompt,
    tools: [
      defineTool({
        name: "refund",
        description: "Refunds an amount.",
        input: z.object({ euros: z.number() }),
        execute: ({ euros }) => `${euros} euros refunded`,
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
