import { answers, callsTools, fails, hangs, type MockStep } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { requestTexts } from "../request-texts.ts";
import { failureOf, scene, settled, toolOf, type Scene } from "../support.ts";

type Policy = "queue" | "restart" | "reject";

/** What an agent may be at when the user speaks again. */
const moments: Readonly<
  Record<string, { readonly script: readonly MockStep[]; readonly reached: (at: Scene) => boolean }>
> = {
  "the model streams": {
    script: [hangs("Let me see")],
    reached: ({ session }) => session.current().streaming?.text === "Let me see",
  },
  "a tool runs": {
    script: [callsTools([{ name: "wait" }])],
    reached: ({ events }) => events.some(({ type }) => type === "ToolCallStarted"),
  },
  "an approval is waited for": {
    script: [callsTools([{ name: "pay" }])],
    reached: ({ session }) => session.questions().length === 1,
  },
  "a retry is waited for": {
    script: [fails("rate-limit", { retryAfterMs: 500 })],
    reached: ({ events }) => events.some(({ type }) => type === "LlmRetryScheduled"),
  },
};

interface Held extends Scene {
  /** Ends the tool that waits. */
  finish(): void;
}

async function at(moment: string, interjection: Policy): Promise<Held> {
  const held = Promise.withResolvers<string>();
  const { script, reached } = moments[moment] ?? { script: [], reached: () => false };
  const made = scene((_, call) => script[call] ?? answers(`answer ${call}`), {
    tools: [toolOf("wait", () => held.promise), toolOf("pay", () => "paid", { approval: "always" })],
    config: { interjection },
  });
  void made.session.send("first");
  await untilPasses(() => expect(reached(made)).toBe(true));
  return { ...made, finish: () => held.resolve("waited") };
}

/** Lets whatever is waited for come about. */
async function continueSession({ session, clock, finish }: Held): Promise<void> {
  finish();
  for (const question of session.questions()) await session.decide(question, "approve");
  await settled();
  clock.advance(500);
  await session.settled();
}

describe.each(Object.keys(moments))("a message while %s (G02)", (moment) => {
  it("waits for its turn under queue, and is answered; nothing is lost", async () => {
    if (moment === "the model streams") return;
    const held = await at(moment, "queue");
    const second = held.session.ask("second");
    await continueSession(held);
    await second;
    const { messages, toolCalls } = held.session.current();
    expect(messages.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
      "first",
      "second",
    ]);
    expect(Object.values(toolCalls).every(({ result }) => result?.isSuccess === true)).toBe(true);
    const asked = requestTexts(held.llm.requests.at(-1));
    expect(asked.filter((text) => text === "second")).toHaveLength(1);
    expect(held.session.current().reActContext.loop).toBe(1);
  });

  it("ends the loop under restart and opens the next one; the work under way is on record", async () => {
    const held = await at(moment, "restart");
    const second = held.session.ask("second");
    expect((await second).text).toMatch(/^answer /);
    const { messages, toolCalls, reActContext, transcript } = held.session.current();
    expect(reActContext.loop).toBe(2);
    expect(messages.map(({ content }) => content)).toEqual(
      expect.arrayContaining(["first", "second", expect.stringMatching(/^answer /)]),
    );
    for (const { result } of Object.values(toolCalls))
      expect(result).toMatchObject({ code: expect.stringMatching(/^cancelled/) });
    expect(JSON.stringify(transcript)).toContain("The user wrote again.");
    expect(held.session.questions()).toEqual([]);
    if (moment === "the model streams")
      expect(messages[1]).toMatchObject({ content: "Let me see", status: "cut" });
  });

  it("is refused under reject, and the work under way continues", async () => {
    const held = await at(moment, "reject");
    expect(await held.session.send("second")).toEqual({ status: "ignored", reason: "busy" });
    expect(await failureOf(held.session.ask("third"))).toMatchObject({ kind: "AgentFailed", reason: "busy" });
    expect(held.session.current().messages.filter(({ role }) => role === "user")).toHaveLength(1);
    if (moment === "the model streams") return;
    await continueSession(held);
    expect(held.session.current().reActContext.control.type).toBe("Done");
  });

  it("that is blank changes nothing, under every policy", async () => {
    for (const policy of ["queue", "restart", "reject"] as const) {
      const held = await at(moment, policy);
      const before = held.session.current();
      expect(await held.session.send("  ")).toEqual({ status: "ignored", reason: "blank" });
      expect(held.session.current()).toBe(before);
      await held.session.close();
    }
  });
});

describe("a message while the model streams, under queue", () => {
  it("stands after the answer that did not know of it, and is answered next", async () => {
    const go = Promise.withResolvers<void>();
    const { session, llm } = scene(async (_, call) => {
      if (call === 0) await go.promise;
      return answers(`answer ${call + 1}`);
    });
    const first = session.ask("first");
    await untilPasses(() => expect(llm.callCount).toBe(1));
    const second = session.ask("second");
    go.resolve();
    expect((await first).text).toBe("answer 1");
    expect((await second).text).toBe("answer 2");
    expect(session.current().messages.map(({ content }) => content)).toEqual([
      "first",
      "answer 1",
      "second",
      "answer 2",
    ]);
    expect(session.trace().entries.map(({ event }) => event)).toEqual([
      "Start",
      "UserInterjected",
      "LlmFinalAnswer",
    ]);
  });
});

describe("fifty messages without a waiting caller (G03)", () => {
  it("are fifty records in their order, and each is once in the next request", async () => {
    const { session, llm, inputs } = scene((_, call) => answers(`answer ${call + 1}`));
    const texts = Array.from({ length: 50 }, (_, index) => `message ${index + 1}`);
    const receipts = texts.map((text) => session.send(text));
    const seqs = (await Promise.all(receipts)).map((receipt) =>
      receipt.status === "accepted" ? receipt.seq : 0,
    );
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    expect(new Set(seqs).size).toBe(50);
    await session.settled();
    const said = inputs.flatMap((input) => (input.type === "user-message-received" ? [input.content] : []));
    expect(said).toEqual(texts);
    expect(llm.callCount).toBe(2);
    expect(requestTexts(llm.requests[1])).toEqual(["message 1", ...texts.slice(1)]);
    expect(
      session
        .current()
        .messages.filter(({ role }) => role === "user")
        .map(({ content }) => content),
    ).toEqual(texts);
  });

  it("are all answered where all are waited for", async () => {
    const { session } = scene((_, call) => answers(`answer ${call + 1}`));
    const runs = Array.from({ length: 50 }, (_, index) => session.ask(`message ${index + 1}`));
    const [first, ...later] = (await Promise.all(runs)).map(({ text }) => text);
    expect(first).toBe("answer 1");
    expect(new Set(later)).toEqual(new Set(["answer 2"]));
  });
});
