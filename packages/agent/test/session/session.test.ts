import { answers, callsTools, hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, expectTypeOf, it, vi } from "vitest";
import * as z from "zod";
import {
  AgentError,
  defineAgent,
  InputRefused,
  startSession,
  type Session,
  type SessionView,
  inputsIn,
} from "../../src/index.ts";
import { failureOf, scene, settled, toolOf } from "../support.ts";

const textsOf = ({ messages }: SessionView): readonly string[] => messages.map(({ content }) => content);

describe("a session", () => {
  it("answers one question after the other, each with what was said before", async () => {
    const { session, llm } = scene([answers("It is 4."), answers("It is 6.")]);
    expect((await session.ask("2+2?")).text).toBe("It is 4.");
    expect((await session.ask("and 3+3?")).text).toBe("It is 6.");
    expect(textsOf(session.current())).toEqual(["2+2?", "It is 4.", "and 3+3?", "It is 6."]);
    expect(llm.requests[1]?.messages).toHaveLength(3);
    expect(session.trace().entries.map(({ to }) => to)).toEqual(["Planning", "Done", "Planning", "Done"]);
  });

  it("accepts a message without a waiting caller", async () => {
    const { session } = scene([answers("Hi.")]);
    expect(await session.send("Hello")).toEqual({ status: "accepted", seq: 1 });
    await session.settled();
    expect(textsOf(session.current())).toEqual(["Hello", "Hi."]);
  });

  it("lets any caller wait for the loop under way, if there is one", async () => {
    const { session } = scene([answers("Here.")]);
    expect(session.running()).toBeUndefined();
    await session.send("Where are you?");
    const [one, other] = [session.running(), session.running()];
    expect((await one)?.text).toBe("Here.");
    expect((await other)?.text).toBe("Here.");
    expect(session.running()).toBeUndefined();
  });

  it("fails at once who waits for a loop of a session that was closed", async () => {
    const { session } = scene([hangs("Let me ")]);
    await session.send("one");
    await session.close();
    expect(await failureOf(Promise.resolve(session.running()))).toMatchObject({ reason: "SessionClosed" });
  });

  it("takes files by reference, and files alone", async () => {
    const { session, llm } = scene([answers("A cat.")]);
    const file = { mediaType: "image/png", url: "https://example.test/cat.png" };
    await session.ask({ content: "", attachments: [file] });
    expect(llm.requests[0]?.messages[0]).toEqual({ role: "user", content: [{ type: "file", file }] });
  });

  it("makes what a user says well-formed (J05)", async () => {
    const { session } = scene([answers("?")]);
    await session.ask("a\ud800b");
    expect(textsOf(session.current())[0]).toBe("a\ufffdb");
  });

  it("refuses an invalid message, with a code and a path", async () => {
    const { session } = scene([]);
    for (const said of ["7", "null", "{}", '{"content":7}', '{"content":"a","attachments":{}}']) {
      const error = await failureOf(session.send(JSON.parse(said)));
      expect(error).toBeInstanceOf(InputRefused);
      expect(error).toMatchObject({
        code: "wrong-shape",
        path: expect.stringMatching(/content|attachments/),
      });
    }
    expect(await session.send(" \n")).toEqual({ status: "ignored", reason: "blank" });
    expect(session.current().messages).toEqual([]);
  });

  it("acknowledges each input with its own place, however many are on their way", async () => {
    const { session } = scene([hangs()]);
    const receipts = await Promise.all(["a", "b", "c"].map((text) => session.send(text)));
    expect(receipts.map((receipt) => receipt.status === "accepted" && receipt.seq)).toEqual([1, 2, 3]);
  });

  it("reports every accepted input with its sequence number and its state, in order", async () => {
    const { session, agent } = scene([callsTools([{ name: "work" }]), answers("Done.")], {
      tools: [toolOf("work")],
    });
    const reported: [number, string][] = [];
    session.onInput((input, state, seq) => {
      reported.push([
        seq,
        inputsIn(input)
          .map(({ type }) => type)
          .join(),
      ]);
      expect(state.updatedAt).toBe(input.timestamp);
    });
    await session.ask("q");
    expect(reported.map(([seq]) => seq)).toEqual(reported.map((_, index) => index + 1));
    expect(reported.map(([, type]) => type)).toEqual([
      "user-message-received,llm-call-started",
      "re-act-observed,tool-call-started",
      "tool-call-completed,llm-call-started",
      "llm-message-started",
      "re-act-observed",
    ]);
    expect(agent.name).toBe("agent");
  });

  it("has the type of its agent's answers", async () => {
    const llm = new MockLlmCaller([answers('{"n":4}')]);
    const session = startSession(defineAgent({ llm, answer: z.object({ n: z.number() }) }));
    expectTypeOf(session).toEqualTypeOf<Session<{ n: number }>>();
    expect((await session.ask("2+2?")).answer).toEqual({ n: 4 });
  });

  it("shares nothing with another one of the same agent", async () => {
    const llm = new MockLlmCaller((request) => answers(String(request.messages.length)));
    const agent = defineAgent({ llm });
    const [one, two] = [startSession(agent), startSession(agent)];
    await one.ask("a");
    await one.ask("b");
    expect((await two.ask("c")).text).toBe("1");
    expect(one.id).not.toBe(two.id);
    expect(one.current().messages).toHaveLength(4);
    expect(two.current().messages).toHaveLength(2);
    expect(new Set(llm.options.map(({ cacheKey }) => cacheKey))).toEqual(new Set([one.id, two.id]));
  });
});

describe("the view of a session", () => {
  it("is the same object until something changes, and another one when it has", async () => {
    const { session } = scene([answers("It is 4.")]);
    const views = new Set([session.current(), session.current()]);
    session.subscribe(() => {
      views.add(session.current());
      expect(session.current()).toBe(session.current());
    });
    await session.ask("2+2?");
    expect(views.size).toBeGreaterThan(4);
    const last = session.current();
    await settled();
    expect(session.current()).toBe(last);
  });

  it("works when its methods are handed on by themselves", async () => {
    const { session } = scene([answers("Hi.")]);
    const { subscribe, current, send, questions, settled: rests, trace, cancel } = session;
    const heard = vi.fn();
    const stop = subscribe(heard);
    await send("Hello");
    await rests();
    const count = heard.mock.calls.length;
    expect(count).toBeGreaterThan(0);
    expect([current().messages.length, questions().length, trace().length]).toEqual([2, 0, 2]);
    expect(await cancel()).toEqual({ status: "ignored", reason: "no-loop" });
    stop();
    await send("again");
    expect(heard).toHaveBeenCalledTimes(count);
  });

  it("grows with every word of the model, and never shows a text twice", async () => {
    const { session } = scene([answers("It is four, I think.")]);
    const seen: string[] = [];
    session.subscribe(() => {
      const { streaming, messages } = session.current();
      if (streaming === null) return;
      seen.push(streaming.text);
      expect(messages.at(-1)).toMatchObject({ id: streaming.messageId, content: "", streaming: true });
    });
    await session.ask("2+2?");
    expect([...new Set(seen)]).toEqual([
      "It ",
      "It is ",
      "It is four, ",
      "It is four, I ",
      "It is four, I think.",
    ]);
    expect(session.current().streaming).toBeNull();
    expect(session.current().messages.at(-1)).toMatchObject({
      content: "It is four, I think.",
      streaming: false,
    });
  });
});

describe("a session that is closed", () => {
  it("ends its loop, aborts what runs, and leaves no timer", async () => {
    let given: AbortSignal | undefined;
    const wait = toolOf("wait", (_, { signal }) => {
      given = signal;
      return new Promise(() => undefined);
    });
    const { session, clock } = scene([callsTools([{ name: "wait" }])], { tools: [wait] });
    const run = session.ask("q");
    await clock.whenWaiting(1);
    await session.close();
    await session.close();
    const error = await failureOf(run);
    expect(error).toMatchObject({ kind: "Cancelled", reason: "SessionClosed" });
    expect(error instanceof AgentError && error.state?.reActContext.control.type).toBe("Acting");
    expect(error instanceof AgentError && error.trace.length).toBe(2);
    expect(given?.aborted).toBe(true);
    await settled();
    expect(clock.waiting).toBe(0);
    await session.settled();
  });

  it("accepts nothing more, and says why; what is late changes nothing", async () => {
    const { session } = scene([hangs("He")], { config: { approval: { policy: "always" } } });
    const run = session.ask("q");
    const failed = failureOf(run);
    await session.close();
    await failed;
    const closed = { name: "AgentError", kind: "Cancelled", reason: "SessionClosed" };
    expect(await failureOf(session.send("more"))).toMatchObject(closed);
    expect(await failureOf(session.ask("more"))).toMatchObject(closed);
    expect(await failureOf(session.cancel())).toMatchObject(closed);
    expect(await failureOf(session.dispatch({ type: "re-act-cancelled", timestamp: 1 }))).toMatchObject(
      closed,
    );
    expect(await failureOf(session.decide({ toolCallId: "call_1", digest: "" }, "approve"))).toMatchObject(
      closed,
    );
    run.cancel();
    await settled();
    expect(session.current().messages[0]?.content).toBe("q");
  });

  it("is closed at the end of its block", async () => {
    const { session } = scene([hangs()]);
    let run: PromiseLike<unknown>;
    {
      await using open = session;
      run = open.ask("q");
    }
    expect(await failureOf(run)).toMatchObject({ reason: "SessionClosed" });
  });
});

describe("a session that continues from a state", () => {
  it("continues the conversation", async () => {
    const first = scene([answers("It is 4.")]);
    await first.session.ask("2+2?");
    const { streaming: _, ...state } = first.session.current();
    const { session, llm } = scene([answers("It is 5.")], {
      options: { state: JSON.parse(JSON.stringify(state)) },
    });
    expect((await session.ask("plus 1?")).text).toBe("It is 5.");
    expect(llm.requests[0]?.messages).toHaveLength(3);
  });

  it("with the configuration that the agent has now", async () => {
    const first = scene([answers("It is 4.")]);
    await first.session.ask("2+2?");
    const { streaming: _, ...state } = first.session.current();
    const next = scene([answers("5")], { options: { state }, config: { systemPrompt: "Be brief." } });
    await next.session.ask("plus 1?");
    expect(next.llm.requests[0]?.system).toBe("Be brief.");
  });
});

describe("a listener", () => {
  it("hears in order: the answer of a loop comes before the first event of the next", async () => {
    const { session, events } = scene([answers("It is 4."), answers("It is 5.")]);
    let asked = false;
    session.subscribe(() => {
      if (asked || session.current().reActContext.control.type !== "Done") return;
      asked = true;
      void session.send("plus 1?");
    });
    await session.ask("2+2?");
    await session.settled();
    await settled();
    const names = events.map((event) => (event.type === "StateStarted" ? event.state : event.type));
    expect(names.filter((name) => !name.startsWith("Llm"))).toEqual([
      "Planning",
      "Done",
      "FinalAnswer",
      "Planning",
      "Done",
      "FinalAnswer",
    ]);
  });

  it("may leave while he hears", async () => {
    const { session } = scene([answers("It is 4.")]);
    const heard = vi.fn(() => stop());
    const stop = session.onEvent(heard);
    await session.ask("2+2?");
    expect(heard).toHaveBeenCalledTimes(1);
  });

  it("and cancels from within an event finds a valid conversation", async () => {
    for (const type of ["StateStarted", "LlmToken", "ToolCallStarted", "ToolCallFinished"] as const) {
      const { session } = scene(
        [callsTools([{ name: "work" }], { text: "Well." }), answers("Done."), answers("Next.")],
        {
          tools: [toolOf("work")],
        },
      );
      const stop = session.onEvent((event) => {
        if (event.type === type) void session.cancel();
      });
      expect(await failureOf(session.ask("q"))).toMatchObject({ kind: "Cancelled" });
      stop();
      expect((await session.ask("and now?")).text).toMatch(/./);
    }
  });
});
