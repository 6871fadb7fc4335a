import { LogError, memoryLog, MemoryStorage, type EventLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import {
  applyInputs,
  DataRefused,
  defineAgent,
  defineData,
  defineTool,
  effectsAt,
  forkSession,
  initialStateOf,
  openSession,
  performEffect,
  startSession,
  verifySession,
  type Agent,
  type AgentInput,
  type AgentState,
  type DataContext,
  type ToolOptions,
} from "../src/index.ts";

const log = defineData({ schema: z.object({ lines: z.array(z.string().max(20)) }), initial: { lines: [] } });
type Log = { lines: string[] };
type Context = DataContext<Log>;

const push =
  (line: string) =>
  (draft: Log): void =>
    void draft.lines.push(line);

const agentWith = (
  execute: (context: Context) => unknown,
  options: Pick<ToolOptions, "replay" | "retries"> = { replay: "safe" },
): Agent<string, Log> => {
  const work = defineTool({
    name: "work",
    description: "Works.",
    input: z.object({}),
    data: log,
    ...options,
    execute: (_, context) => execute(context),
  });
  const llm = new MockLlmCaller((request) =>
    request.messages.some(({ role }) => role === "assistant")
      ? answers("Done.")
      : callsTools([{ name: "work" }]),
  );
  return defineAgent({ name: "worker", llm, data: log, tools: [work] });
};

const resultOf = (state: Pick<AgentState, "toolCalls">) => state.toolCalls["call_1"]?.result;

/** What a promise rejects with. */
const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("update.now of a tool", () => {
  it("commits at once, before the result, and names the call", async () => {
    const events = memoryLog();
    const seen: string[][] = [];
    const agent = agentWith(async ({ update }) => {
      const { lines } = await update.now(push("half"));
      expectTypeOf(lines).toEqualTypeOf<readonly string[]>();
      seen.push([...lines], [...session.current().data.lines]);
      update(push("whole"));
      return "worked";
    });
    const session = await openSession(agent, { log: events, id: "ada" });
    const inputs: AgentInput[] = [];
    session.onInput((input) => void inputs.push(input));
    await session.ask("Go.");
    expect(seen).toEqual([["half"], ["half"]]);
    expect(session.current().data.lines).toEqual(["half", "whole"]);
    expect(inputs.find(({ type }) => type === "data-changed")).toMatchObject({
      by: "work",
      toolCallId: "call_1",
    });
    await session.close();
    expect(await verifySession(events, "ada")).toMatchObject({ ok: true });
  });

  it("commits the earlier updates of the call with it, in their order", async () => {
    const views: unknown[] = [];
    const session = startSession(
      agentWith(async ({ update }) => {
        update(push("a"));
        views.push((await update.now(push("b"))).lines);
        views.push(update(push("c")).lines);
        throw new Error("It fails.");
      }),
    );
    await session.ask("Go.");
    expect(views).toEqual([
      ["a", "b"],
      ["a", "b", "c"],
    ]);
    expect(session.current().data.lines).toEqual(["a", "b"]);
  });

  it("loses nothing of two that run at once, and of the application", async () => {
    const session = startSession(
      agentWith(async ({ update }) => {
        await Promise.all([update.now(push("a")), session.update(push("app")), update.now(push("b"))]);
        return "worked";
      }),
    );
    await session.ask("Go.");
    expect(session.current().data.lines.toSorted()).toEqual(["a", "app", "b"]);
  });

  it("is committed before the result of a tool that does not wait for it", async () => {
    const session = startSession(
      agentWith(({ update }) => {
        update(push("a"));
        void update.now(push("b"));
        return "worked";
      }),
    );
    await session.ask("Go.");
    expect(session.current().data.lines).toEqual(["a", "b"]);
    expect(resultOf(session.current())).toMatchObject({ content: "worked" });
  });

  it("that is refused has no effect, and leaves the earlier updates to the result", async () => {
    let refused: unknown;
    const session = startSession(
      agentWith(async ({ update }) => {
        update(push("a"));
        refused = await rejection(update.now(push("x".repeat(21))));
        update(push("b"));
        return "worked";
      }),
    );
    await session.ask("Go.");
    expect(refused).toBeInstanceOf(DataRefused);
    expect(refused).toMatchObject({ problem: expect.stringContaining("lines[1]") });
    expect(session.current().data.lines).toEqual(["a", "b"]);
  });

  it("that changes nothing is not recorded", async () => {
    const session = startSession(
      agentWith(async ({ update }) => (await update.now(() => undefined)).lines.length),
    );
    const types: string[] = [];
    session.onInput(({ type }) => void types.push(type));
    await session.ask("Go.");
    expect(types).not.toContain("data-changed");
    expect(resultOf(session.current())).toMatchObject({ isSuccess: true, content: "0" });
  });

  it.each<ToolOptions["replay"]>(["once", undefined])(
    "is refused for a tool that must not run twice (%s)",
    async (replay) => {
      const session = startSession(
        agentWith(({ update }) => update.now(push("a")), replay === undefined ? {} : { replay }),
      );
      await session.ask("Go.");
      expect(session.current().data.lines).toEqual([]);
      expect(resultOf(session.current())).toMatchObject({
        isSuccess: false,
        error: expect.stringContaining('update.now of the tool work needs replay: "safe" or "keyed"'),
      });
    },
  );

  it("is refused after the call has ended and after a cancel", async () => {
    let context: Context | undefined;
    const afterCancel = Promise.withResolvers<unknown>();
    const session = startSession(
      agentWith(async (given) => {
        context = given;
        const canceled = session.cancel("Enough.");
        afterCancel.resolve(await rejection(given.update.now(push("late"))));
        await canceled;
      }),
    );
    await session.ask("Go.").catch(() => undefined);
    expect(await afterCancel.promise).toMatchObject({ problem: "the call was canceled or has ended." });
    if (context === undefined) throw new Error("The tool did not run.");
    expect(await rejection(context.update.now(push("later")))).toBeInstanceOf(DataRefused);
    expect(session.current().data.lines).toEqual([]);
  });

  it("of an attempt that fails stays, and is seen by the attempt that repeats it", async () => {
    const session = startSession(
      agentWith(
        async ({ data, update }) => {
          if (data.lines.length > 0) return `after ${data.lines.join()}`;
          await update.now(push("first"));
          throw new Error("Try again.");
        },
        { replay: "safe", retries: 1 },
      ),
    );
    await session.ask("Go.");
    expect(resultOf(session.current())).toMatchObject({ content: "after first" });
    expect(session.current().data.lines).toEqual(["first"]);
  });

  it("survives a host that dies before the result, and is seen by the attempt after it", async () => {
    const storage = new MemoryStorage();
    const committed = Promise.withResolvers<void>();
    const dying = agentWith(async ({ update }) => {
      await update.now(push("early"));
      committed.resolve();
      return await new Promise(() => undefined);
    });
    const first = await openSession(dying, {
      log: memoryLog(storage),
      id: "ada",
      owner: "host",
      onError: () => undefined,
    });
    void first.ask("Go.").catch(() => undefined);
    await committed.promise;
    // The storage as a crash leaves it: without anything that the first host writes when it closes.
    const second = await openSession(
      agentWith(({ data }) => data.lines.join()),
      { log: memoryLog(storage), id: "ada", owner: "host" },
    );
    await second.settled();
    expect(resultOf(second.current())).toMatchObject({ content: "early" });
    await second.close();
    await first.close().catch(() => undefined);
    expect(await verifySession(memoryLog(storage), "ada")).toMatchObject({ ok: true });
  });

  it("is applied once where its append is stored and reported as failed", async () => {
    const storage = new MemoryStorage();
    let failures = 0;
    const events: EventLog = withSessions(memoryLog(storage), (session) => ({
      append(expectedSeq, records) {
        void session.append(expectedSeq, records);
        if (failures > 0 || !records.some(({ body }) => body.includes("data-changed"))) return;
        failures += 1;
        throw new LogError("LogWrite", "The confirmation was lost.");
      },
    }));
    const session = await openSession(
      agentWith(async ({ update }) => (await update.now(push("once"))).lines.length),
      { log: events, id: "ada", onError: () => undefined },
    );
    await session.ask("Go.");
    expect(failures).toBe(1);
    expect(session.current().data.lines).toEqual(["once"]);
    await session.close();
    expect(await verifySession(events, "ada")).toMatchObject({ ok: true });
  });

  it("works in a runner of one's own", async () => {
    const agent = agentWith(async ({ update }) => (await update.now(push("own"))).lines.join());
    let state = applyInputs(initialStateOf(agent), [
      { type: "user-message-received", messageId: "m", content: "Go.", timestamp: 1 },
    ]).state;
    for (;;) {
      const [effect] = Object.values(effectsAt(state));
      if (effect === undefined) break;
      await performEffect(agent, effect, state, {
        sessionId: "one",
        dispatch(...inputs) {
          const { state: after, applied } = applyInputs(state, inputs);
          state = after;
          return applied > 0;
        },
      });
    }
    expect(resultOf(state)).toMatchObject({ content: "own" });
    expect(state.data).toEqual({ lines: ["own"] });
  });
});

describe("update.now of a handler", () => {
  const withState = (
    handler: (context: Context & { callTool(name: string, input: unknown): unknown }) => unknown,
  ) => {
    const note = defineTool({
      name: "note",
      description: "Notes.",
      input: z.object({}),
      replay: "safe",
      data: log,
      async execute(_, { update }) {
        update(push("tool"));
        return (await update.now(push("tool now"))).lines.join();
      },
    });
    return defineAgent({
      llm: new MockLlmCaller(() => answers("Done.")),
      data: log,
      tools: [note],
      states: {
        async Check(_, context) {
          await handler(context);
          return "Checked";
        },
      },
      config: {
        graph: {
          states: ["Check"],
          replay: { Check: "safe" },
          rows: { Planning: { LlmFinalAnswer: "Check" }, Check: { Checked: "Done" } },
          terminals: [],
        },
      },
    });
  };

  it("commits at once, and the rest with its decision", async () => {
    const agent = withState(async ({ update }) => {
      await update.now(push("now"));
      seen.push([...session.current().data.lines]);
      update(push("then"));
    });
    const session = startSession(agent);
    const seen: string[][] = [];
    const inputs: AgentInput[] = [];
    session.onInput((input) => void inputs.push(input));
    await session.ask("Go.");
    expect(seen).toEqual([["now"]]);
    expect(session.current().data.lines).toEqual(["now", "then"]);
    expect(inputs.find(({ type }) => type === "data-changed")).toMatchObject({
      by: "Check",
      key: "state/1/1/1",
    });
  });

  it("of a tool that it calls commits the updates of both, in their order", async () => {
    const agent = withState(async ({ update, callTool }) => {
      update(push("handler"));
      seen.push(await callTool("note", {}), [...session.current().data.lines]);
    });
    const session = startSession(agent);
    const seen: unknown[] = [];
    await session.ask("Go.");
    expect(seen).toMatchObject([{ content: "handler,tool,tool now" }, ["handler", "tool", "tool now"]]);
    expect(session.current().data.lines).toEqual(["handler", "tool", "tool now"]);
  });

  it("stays if the handler fails, and the rest is dropped", async () => {
    const agent = withState(async ({ update }) => {
      await update.now(push("now"));
      update(push("dropped"));
      void update.now(push("x".repeat(21))).catch(() => undefined);
      throw new Error("It fails.");
    });
    const session = startSession(agent);
    await session.ask("Go.").catch(() => undefined);
    expect(session.current().data.lines).toEqual(["now"]);
  });
});

describe("a fork of a session whose call has committed an update", () => {
  it.each(["rerun", "reuse", "close"] as const)("keeps the update (%s)", async (open) => {
    const events = memoryLog();
    const agent = agentWith(async ({ update }) => {
      await update.now(push("early"));
      update(push("late"));
      return "worked";
    });
    const session = await openSession(agent, { log: events, id: "ada" });
    let committed = 0;
    session.onInput((input, _, seq) => void (input.type === "data-changed" && (committed = seq)));
    await session.ask("Go.");
    await session.close();
    const fork = await forkSession(events, "ada", committed, { as: "fork", open });
    expect(fork.state.data).toEqual({ lines: open === "reuse" ? ["early", "late"] : ["early"] });
    expect(fork.dropped).toBe(0);
    expect(await verifySession(events, "fork")).toMatchObject({ ok: true });
  });
});
