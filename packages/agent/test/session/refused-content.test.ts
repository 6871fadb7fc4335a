import type { LlmFile, LlmMessage, LlmOutcome, LlmRequest } from "@moora/llm";
import { answers, callsTools, fails, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import { memoryLog } from "@moora/event-log";
import { describe, expect, it } from "vitest";
import { defineAgent, forkSession, openSession, toolReply, verifySession } from "../../src/index.ts";
import { scene } from "../support.ts";
import { toolOf } from "@moora/testbed/tool-of";

type Kind = "raw" | "files" | "poison";

const filesOf = (message: LlmMessage): readonly LlmFile[] => {
  if (message.role === "note") return [];
  if (message.role === "user")
    return message.content.flatMap((piece) => (piece.type === "file" ? [piece.file] : []));
  return [
    ...message.turn.parts.flatMap((part) => (part.type === "file" ? [part.file] : [])),
    ...message.results.flatMap(({ files = [] }) => files),
  ];
};

const isBad: Readonly<Record<Kind, (message: LlmMessage) => boolean>> = {
  raw: (message) =>
    message.role === "assistant" && message.turn.parts.some((part) => part.type === "reasoning"),
  files: (message) => filesOf(message).length > 0,
  poison: (message) => JSON.stringify(message).includes("poison"),
};

const refusal = (origin = "mock", details: { readonly blamesFiles?: true } = {}): LlmOutcome =>
  fails("invalid-request", { message: "The content is refused.", refusedBy: origin, ...details });

const textOf = (message: LlmMessage | undefined): string => JSON.stringify(message);

/** A model that refuses requests with messages of a kind, and counts them. Two equal requests are never sent. */
function refusing(is: (message: LlmMessage) => boolean, details: { readonly blamesFiles?: true } = {}) {
  const seen = { refused: 0, requests: new Set<string>(), repeated: 0 };
  const answer = ({ messages }: LlmRequest): MockStep => {
    const request = JSON.stringify(messages);
    if (seen.requests.has(request)) seen.repeated += 1;
    if (messages.some(is)) {
      seen.refused += 1;
      seen.requests.add(request);
      return refusal("mock", details);
    }
    const last = textOf(messages.at(-1));
    return last.includes("picture, please")
      ? callsTools([{ name: "shot" }], { reasoning: "A picture." })
      : answers("Fine.", { reasoning: "Hm." });
  };
  return { seen, answer };
}

const png = { mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=", name: "a.png" };
const shot = toolOf("shot", () => toolReply({ content: "The picture.", files: [png] }), { replay: "safe" });

const ask = async (
  session: { ask(text: string | object): PromiseLike<{ text: string }> },
  text: string | object,
) =>
  await Promise.resolve(session.ask(text as string)).then(
    (answer) => answer.text,
    (error: unknown) => `FAILED: ${error instanceof Error ? error.message : String(error)}`,
  );

describe("a request that was refused for what it contains", () => {
  it("is sent again at once without what only its origin can read, and later ones begin there", async () => {
    const { seen, answer } = refusing(isBad.raw);
    const { session, llm, clock, events } = scene(answer);
    expect(await ask(session, "One.")).toBe("Fine.");
    expect(await ask(session, "Two.")).toBe("Fine.");
    expect(await ask(session, "Three.")).toBe("Fine.");
    expect([llm.callCount, clock.waiting, seen]).toMatchObject([4, 0, { refused: 1, repeated: 0 }]);
    expect(events).toContainEqual({ type: "LlmWarning", text: expect.stringContaining("reasoning") });
    await session.close();
  });

  it("keeps the raw parts of the newest turn where those of earlier ones are refused", async () => {
    const reasons = (messages: readonly LlmMessage[]): number => messages.filter(isBad.raw).length;
    const { session, llm } = scene(({ messages }) =>
      reasons(messages) > 1 ? refusal() : answers("Fine.", { reasoning: "Hm." }),
    );
    for (const text of ["One.", "Two.", "Three.", "Four."]) expect(await ask(session, text)).toBe("Fine.");
    expect(llm.requests.map(({ messages }) => reasons(messages))).toEqual([0, 1, 2, 1, 1]);
    await session.close();
  });

  it("is sent again with the names of its files, and a provider that refuses files gets none after the second refusal", async () => {
    const { seen, answer } = refusing(isBad.files, { blamesFiles: true });
    const { session, llm } = scene(answer, { tools: [shot] });
    for (let index = 0; index < 5; index += 1) expect(await ask(session, "A picture, please.")).toBe("Fine.");
    expect(seen).toMatchObject({ refused: 2, repeated: 0 });
    expect(textOf(llm.requests.at(-1)?.messages.at(-1))).toContain("(File not shown: a.png (image/png).)");
    expect(llm.requests.at(-1)?.messages.some(isBad.raw)).toBe(true);
    await session.close();
  });

  it("does not lose other files of the conversation for one that is refused", async () => {
    const { answer } = refusing((message) => filesOf(message).some(({ name }) => name === "bad.png"));
    const { session, llm } = scene(answer);
    for (const name of ["one.png", "bad.png", "two.png"])
      expect(await ask(session, { content: name, attachments: [{ ...png, name }] })).toBe("Fine.");
    const names = llm.requests
      .at(-1)
      ?.messages.flatMap(filesOf)
      .map((file) => file.name);
    expect(names).toEqual(["one.png", "two.png"]);
    await session.close();
  });

  it("ends its loop on the last rung with the message of the provider, and the next one is answered", async () => {
    const { seen, answer } = refusing(isBad.poison);
    const { session } = scene(answer);
    expect(await ask(session, "One.")).toBe("Fine.");
    expect(await ask(session, "poison")).toContain("The content is refused.");
    expect(await ask(session, "Two.")).toBe("Fine.");
    expect(session.current().messages.map(({ status }) => status)).toContain("withheld");
    expect(seen.repeated).toBe(0);
    await session.close();
  });

  it("is sent once where it is plain text", async () => {
    const { session, llm } = scene(() => refusal());
    expect(await ask(session, "One.")).toContain("The content is refused.");
    expect(llm.callCount).toBe(1);
    await session.close();
  });

  it("does not count as a failed attempt, but its usage counts", async () => {
    const { answer } = refusing(isBad.files);
    const { session, llm } = scene(
      (request) => {
        const step = answer(request);
        return "ok" in step && !step.ok ? { ...step, usage: { ...zero, inputTokens: 7 } } : step;
      },
      { config: { retries: { maxLlmAttempts: 1 } } },
    );
    expect(await ask(session, { content: "See.", attachments: [png] })).toBe("Fine.");
    expect(llm.callCount).toBe(2);
    expect(session.current().usage.inputTokens).toBe(7);
    await session.close();
  });

  it("leaves out what is older than the loop where the loop before was withheld as well", async () => {
    let isRefused = false;
    const { session } = scene(({ messages }) =>
      isRefused && messages.some(isBad.poison) ? refusal() : answers("Fine."),
    );
    expect(await ask(session, "poison")).toBe("Fine.");
    isRefused = true;
    expect(await ask(session, "Two.")).toContain("FAILED");
    expect(await ask(session, "Three.")).toBe("Fine.");
    expect(await ask(session, "Four.")).toBe("Fine.");
    await session.close();
  });

  it("climbs from the beginning for another model", async () => {
    const { answer } = refusing(isBad.files);
    const { session, llm } = scene((request) =>
      request.model === "sees" ? answers("I see.") : answer(request),
    );
    expect(await ask(session, { content: "See.", attachments: [png] })).toBe("Fine.");
    await session.configure({ models: { default: "sees" } });
    expect(await ask(session, "And now?")).toBe("I see.");
    expect(llm.requests.at(-1)?.messages.flatMap(filesOf)).toHaveLength(1);
    await session.close();
  });

  it("is not sent unchanged after a restart, in a fork, and by another provider of the model", async () => {
    const log = memoryLog();
    const { seen, answer } = refusing(isBad.files);
    const agentOf = (origin: string) =>
      defineAgent({
        llm: new MockLlmCaller((request) => {
          const step = answer(request);
          if ("hangsAfter" in step) return step;
          return step.ok ? { ...step, turn: { ...step.turn, origin } } : refusal(origin);
        }),
      });
    const first = await openSession(agentOf("a"), { log, id: "s" });
    expect(await ask(first, { content: "See.", attachments: [png] })).toBe("Fine.");
    await first.close();
    const again = await openSession(agentOf("a"), { log, id: "s" });
    expect(await ask(again, "Two.")).toBe("Fine.");
    await again.close();
    const { seq } = again.info();
    await forkSession(log, "s", seq, { as: "f", open: "close" });
    const forked = await openSession(agentOf("a"), { log, id: "f" });
    expect(await ask(forked, "Three.")).toBe("Fine.");
    await forked.close();
    expect(seen).toMatchObject({ refused: 1, repeated: 0 });
    await using other = await openSession(agentOf("b"), { log, id: "s" });
    for (const text of ["Four.", "Five.", "Six."]) expect(await ask(other, text)).toBe("Fine.");
    expect(other.current().ladders).toMatchObject([{ origin: "b" }]);
  });

  it("is in the trace, and replays to the same state", async () => {
    const log = memoryLog();
    const { answer } = refusing(isBad.files);
    const session = await openSession(defineAgent({ llm: new MockLlmCaller(answer) }), { log, id: "s" });
    const { trace } = await session.ask({ content: "See.", attachments: [png] });
    expect(trace.toText()).toContain("Refused: The content is refused.");
    await session.close();
    expect(await verifySession(log, "s")).toMatchObject({ ok: true });
  });

  it("that failed in a log of before is sent by the rungs", async () => {
    const log = memoryLog();
    let refuse = (): LlmOutcome => fails("invalid-request");
    const agent = defineAgent({
      llm: new MockLlmCaller(({ messages }) => (messages.some(isBad.files) ? refuse() : answers("Fine."))),
    });
    const before = await openSession(agent, { log, id: "s" });
    expect(await ask(before, { content: "See.", attachments: [png] })).toContain("FAILED");
    await before.close();
    refuse = refusal;
    await using after = await openSession(agent, { log, id: "s" });
    expect(await ask(after, "Hello?")).toBe("Fine.");
  });
});

const zero = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};
