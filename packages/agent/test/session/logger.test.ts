import { formatWithOptions } from "node:util";
import { LogError, memoryLog, type SessionLog } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import type { LlmChunk } from "@moora/llm";
import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import { HeardErrors } from "@moora/testbed/durable/errors";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it, vi } from "vitest";
import { agentTool, defineAgent, openSession, startSession, type LogEntry } from "../../src/index.ts";
import { scene, settled, toolOf } from "../support.ts";
import { onAppend } from "@moora/testbed/durable/on-append";

const logged = () => {
  const entries: LogEntry[] = [];
  const onLog = (entry: LogEntry): void => void entries.push(entry);
  const codes = (): readonly string[] => entries.map(({ code }) => code);
  return { entries, onLog, codes };
};

const agentOf = (...script: ConstructorParameters<typeof MockLlmCaller>): ReturnType<typeof defineAgent> =>
  defineAgent({ llm: new MockLlmCaller(...script) });

describe("onLog", () => {
  it("receives the retry of a provider, with what failed and when it is due", async () => {
    const { entries, onLog } = logged();
    const made = scene([fails("overloaded"), answers("Hello.")], { options: { onLog } });
    const run = made.session.ask("Hi.");
    await untilPasses(() => expect(entries).toHaveLength(1));
    expect(entries).toMatchObject([
      {
        level: "warn",
        code: "llm-retry",
        sessionId: "ada",
        data: { kind: "overloaded", due: expect.any(Number) },
      },
    ]);
    await made.clock.advanceAsync(60_000);
    expect((await run).text).toBe("Hello.");
    await made.session.close();
  });

  it("receives the retry of a tool", async () => {
    const { entries, onLog } = logged();
    const execute = vi.fn().mockRejectedValueOnce(new Error("The network is down.")).mockReturnValue("page");
    const tools = [toolOf("fetch", () => execute(), { replay: "safe", retries: 1 })];
    const made = scene([callsTools([{ name: "fetch" }]), answers("Done.")], { tools, options: { onLog } });
    const run = made.session.ask("Go.");
    await untilPasses(() => expect(entries).toHaveLength(1));
    expect(entries[0]).toMatchObject({ code: "tool-retry", data: { toolCallId: "call_1", name: "fetch" } });
    await made.clock.advanceAsync(60_000);
    await run;
    await made.session.close();
  });

  it("receives a result that comes after its call was cancelled", async () => {
    const { entries, onLog } = logged();
    const held = Promise.withResolvers<string>();
    const tools = [toolOf("work", () => held.promise)];
    const made = scene([callsTools([{ name: "work" }])], { tools, options: { onLog } });
    await made.session.send("Work.");
    await untilPasses(() => expect(made.session.current().reActContext.control.type).toBe("Acting"));
    await settled();
    await made.session.cancel();
    held.resolve("late");
    await settled();
    expect(entries).toContainEqual(
      expect.objectContaining({ level: "info", code: "late-result", data: { key: "tool/call_1/1" } }),
    );
    await made.session.close();
  });

  it("receives once that a model streams after its call was cancelled", async () => {
    const { entries, onLog } = logged();
    const ended = Promise.withResolvers<void>();
    const llm = {
      name: "slow",
      async call(_: unknown, { onChunk }: { readonly onChunk?: (chunk: LlmChunk) => void }) {
        await ended.promise;
        onChunk?.({ type: "text", text: "late" });
        onChunk?.({ type: "text", text: "r" });
        return answers("later");
      },
    };
    const session = startSession(defineAgent({ llm }), { onLog });
    await session.send("Hi.");
    await settled();
    await session.cancel();
    ended.resolve();
    await untilPasses(() =>
      expect(entries).toMatchObject([{ level: "debug", code: "chunk-dropped", data: { key: "plan/1/1/1" } }]),
    );
    await session.close();
  });

  it("receives an input that does not apply, with the reason", async () => {
    const { entries, onLog } = logged();
    const session = startSession(agentOf([answers("Hello.")]), { onLog });
    await session.cancel();
    expect(entries).toMatchObject([{ level: "debug", code: "input-ignored", data: { reason: "no-loop" } }]);
    await session.close();
  });

  it("receives the error of a listener, also where onError handles it", async () => {
    const { entries, onLog } = logged();
    const error = new Error("The page is gone.");
    const session = startSession(agentOf([answers("Hello.")]), { onLog, onError: () => undefined });
    session.onInput(() => {
      throw error;
    });
    await session.ask("Hi.");
    expect(entries[0]).toMatchObject({
      level: "error",
      code: "listener-error",
      message: "A listener or onApproval failed.",
      error,
    });
    expect(JSON.stringify({ ...entries[0], error: undefined })).not.toContain("page");
    await session.close();
  });

  it("cannot disturb the session: what it throws is printed once", async () => {
    const printed = vi.spyOn(console, "error").mockReturnValue();
    const onLog = (): never => {
      throw new Error("The logger is broken.");
    };
    const made = scene([fails("overloaded"), fails("overloaded"), answers("Hello.")], {
      options: { onLog },
    });
    const run = made.session.ask("Hi.");
    await settled();
    await made.clock.advanceAsync(60_000);
    await made.clock.advanceAsync(60_000);
    expect((await run).text).toBe("Hello.");
    expect(printed.mock.calls).toEqual([
      [
        'Session "ada" (onLog): the listener failed, printed once. Catch its errors within it.',
        new Error("The logger is broken."),
      ],
    ]);
    printed.mockRestore();
    await made.session.close();
  });

  it("cannot disturb the session with an error that cannot be printed", async () => {
    const written: string[] = [];
    const printed = vi.spyOn(console, "error").mockImplementation((...parts: unknown[]) => {
      written.push(formatWithOptions({}, ...parts));
    });
    const onLog = (): never => {
      const inspect = (): never => {
        throw new Error("It cannot be inspected.");
      };
      throw Object.assign(new Error("The logger is beyond repair."), {
        [Symbol.for("nodejs.util.inspect.custom")]: inspect,
      });
    };
    const log = memoryLog();
    const session = await openSession(agentOf([answers("Hello.")]), { log, id: "ada", onLog });
    expect((await session.ask("Hi.")).text).toBe("Hello.");
    await session.close();
    printed.mockRestore();
    expect(written).toEqual([
      'Session "ada" (onLog): the listener failed, printed once. Catch its errors within it. The logger is beyond repair.',
    ]);
  });

  it("cannot disturb the session with an error that a broken console throws on", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {
      throw new Error("The console is closed.");
    });
    const onLog = vi.fn().mockRejectedValue(new Error("The logger is broken for good."));
    const session = startSession(agentOf([answers("Hello.")]), { onLog });
    await session.cancel();
    await settled();
    expect((await session.ask("Hi.")).text).toBe("Hello.");
    await session.close();
    expect(printed).toHaveBeenCalled();
    printed.mockRestore();
  });

  it("receives the entries of sub-agents, each with the id of its session", async () => {
    const { entries, onLog } = logged();
    const cook = defineAgent({ name: "cook", llm: new MockLlmCaller([answers("Soup.")]) });
    const tools = [agentTool(cook, { name: "cook", description: "Cooks.", log: memoryLog() })];
    const script = [callsTools([{ name: "cook", arguments: { task: "Cook." } }]), answers("Done.")];
    const session = startSession(defineAgent({ llm: new MockLlmCaller(script), tools }), {
      onLog,
      id: "ada",
    });
    await session.ask("Hungry.");
    const opened = entries.find(({ code }) => code === "session-opened");
    expect(opened?.sessionId).toMatch(/^cook-/);
    await session.close();
  });
});

describe("onLog of a session in a log", () => {
  it("receives the opening and the close", async () => {
    const { entries, onLog } = logged();
    const log = memoryLog();
    const session = await openSession(agentOf([]), { log, id: "ada", owner: "one", onLog });
    await session.close();
    expect(entries).toMatchObject([
      { level: "info", code: "session-opened", data: { access: "run", owner: "one", seq: 1 } },
      { level: "info", code: "session-closed", data: { seq: expect.any(Number) } },
    ]);
    const reader = await openSession(agentOf([]), { log, id: "ada", access: "read", onLog });
    expect(entries.at(-1)).toMatchObject({ code: "session-opened", data: { access: "read" } });
    await reader.close();
  });

  it("receives a takeover on both sides, and the wait for a lease", async () => {
    const [old, next] = [logged(), logged()];
    const [log, clock] = [memoryLog(), new TestClock()];
    const options = { log, clock, id: "ada" };
    const errors = new HeardErrors();
    const { onError } = errors;
    const first = await openSession(agentOf([]), { ...options, owner: "one", onLog: old.onLog, onError });
    const isOwnerGone = vi.fn().mockReturnValueOnce(false).mockReturnValue(true);
    const opening = openSession(agentOf([]), {
      ...options,
      owner: "two",
      waitMs: 5_000,
      isOwnerGone,
      onLog: next.onLog,
    });
    await untilPasses(() => expect(next.codes()).toEqual(["lease-awaited"]));
    await clock.advanceAsync(1_000);
    const second = await opening;
    expect(next.codes()).toEqual(["lease-awaited", "lease-taken-over", "session-opened"]);
    expect(next.entries[1]).toMatchObject({ level: "warn", data: { owner: "one" } });
    await untilPasses(() => expect(old.codes()).toContain("session-lost"));
    expect(old.entries.find(({ code }) => code === "session-lost")).toMatchObject({
      level: "warn",
      data: { reason: "StaleWriter" },
      error: { code: "StaleWriter" },
    });
    expect(errors.codes).toEqual(["StaleWriter"]);
    await first.close();
    await second.close();
  });

  it("receives a renewal of the lease that needs the log to be opened again", async () => {
    const { entries, onLog } = logged();
    const clock = new TestClock();
    let claims = 0;
    const log = withSessions(memoryLog(), (session) => ({
      lease(claim: Parameters<SessionLog["lease"]>[0]) {
        claims += 1;
        if (claims === 2) throw new LogError("LogWrite", "The connection broke.");
        return session.lease(claim);
      },
    }));
    const session = await openSession(agentOf([]), { log, clock, id: "ada", onLog, leaseMs: 30_000 });
    await clock.advanceAsync(10_000);
    await untilPasses(() =>
      expect(entries.at(-1)).toMatchObject({
        level: "warn",
        code: "lease-retried",
        error: { code: "LogWrite" },
      }),
    );
    await session.close();
  });

  it("receives an append that was tried again", async () => {
    const { entries, onLog, codes } = logged();
    let failures = 0;
    const log = onAppend(memoryLog(), ({ records }) => {
      if (failures === 0 && records.some(({ body }) => body.includes("unlucky"))) {
        failures += 1;
        throw new LogError("LogWrite", "The disk is full.");
      }
    });
    await using owner = await openSession(agentOf([answers("Hello.")]), { log, id: "ada", onLog });
    await owner.ask("unlucky");
    expect(codes()).toEqual(["session-opened", "append-retried"]);
    expect(entries[1]).toMatchObject({ level: "warn", error: { code: "LogWrite" } });
  });

  it("receives an append that another process preceded", async () => {
    const { entries, onLog } = logged();
    const log = memoryLog();
    await using owner = await openSession(agentOf([answers("Hello."), answers("Bye.")]), { log, id: "ada" });
    let isFirst = true;
    const slow = onAppend(log, async () => {
      if (isFirst) {
        isFirst = false;
        await owner.ask("I am faster.");
      }
    });
    await using poster = await openSession(agentOf([]), { log: slow, id: "ada", access: "post", onLog });
    await poster.send("Also this.");
    expect(entries.find(({ code }) => code === "append-conflict")).toMatchObject({
      level: "debug",
      data: { records: expect.any(Number) },
    });
  });
});
