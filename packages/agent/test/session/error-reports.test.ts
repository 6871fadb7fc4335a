import { runInNewContext } from "node:vm";
import { LogError, memoryLog } from "@moora/event-log";
import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import {
  AgentError,
  defineAgent,
  openSession,
  startSession,
  type AgentState,
  type ErrorReport,
  type Session,
} from "../../src/index.ts";
import { failureOf, scene, settled, toolOf } from "../support.ts";
import { graphOf } from "@moora/testbed/graph-of";
import { onAppend } from "@moora/testbed/durable/on-append";

const fatal = vi.fn();
const printed = vi.spyOn(console, "error");
beforeEach(() => {
  process.on("unhandledRejection", fatal);
  process.on("uncaughtException", fatal);
  printed.mockReset().mockReturnValue();
});
afterEach(async () => {
  await settled();
  process.off("unhandledRejection", fatal);
  process.off("uncaughtException", fatal);
  if (fatal.mock.calls.length > 0) throw new Error("An error would have ended the process.");
});

const reportsOf = (session: Session): ErrorReport[] => {
  const reports: ErrorReport[] = [];
  session.onError((report) => void reports.push(report));
  return reports;
};

/** A promise of another realm, as a library in a sandbox makes it. */
const foreignRejection = (message: string): unknown =>
  runInNewContext("Promise.reject(new Error(message))", { message });

let bugs = 0;
/** Errors are printed once for each message: every test brings one of its own. */
const newBug = (): Error => new Error(`bug ${(bugs += 1)}`);

describe("a listener that throws", () => {
  it.each(["subscribe", "onEvent", "onInput"] as const)(
    "%s: is reported, and keeps neither other listeners from hearing nor the agent from answering",
    async (method) => {
      const { session } = scene([answers("It is 4.")]);
      const bug = newBug();
      const reports = reportsOf(session);
      const heard = vi.fn();
      session[method](() => {
        throw bug;
      });
      session[method](heard);
      expect((await session.ask("2+2?")).text).toBe("It is 4.");
      expect(heard).toHaveBeenCalled();
      expect(reports[0]).toEqual({ source: "listener", error: bug });
      expect(printed).not.toHaveBeenCalled();
    },
  );

  it.each([
    ["rejects", (bug: Error): unknown => Promise.reject(bug)],
    ["rejects with a promise of another realm", ({ message }: Error) => foreignRejection(message)],
  ])("%s: is reported as well", async (_, returned) => {
    const { session } = scene([answers("It is 4.")]);
    const bug = newBug();
    const reports = reportsOf(session);
    session.subscribe(() => returned(bug));
    await session.ask("2+2?");
    await settled();
    expect(reports[0]).toMatchObject({ source: "listener", error: { message: bug.message } });
  });

  it.each([
    [
      "throws",
      (bug: Error): unknown => {
        throw bug;
      },
    ],
    ["rejects", (bug: Error): unknown => Promise.reject(bug)],
  ])("follow: that %s is reported, for inputs of the log and for new ones", async (_, fail) => {
    const agent = defineAgent({ llm: new MockLlmCaller(() => answers("Hi.")) });
    await using session = await openSession(agent, { log: memoryLog(), id: "ada" });
    await session.ask("One?");
    const before = session.seq();
    const reports = reportsOf(session);
    const bug = newBug();
    const heard: number[] = [];
    await session.follow(0, (seq) => {
      heard.push(seq);
      return fail(bug);
    });
    expect((await session.ask("Two?")).text).toBe("Hi.");
    await settled();
    expect(heard).toEqual(Array.from({ length: session.seq() }, (_unused, index) => index + 1));
    expect(session.seq()).toBeGreaterThan(before);
    expect(reports).toEqual(heard.map(() => ({ source: "listener", error: bug })));
  });

  it.each<[string, unknown]>([
    ["an object without a prototype", Object.create(null)],
    ["an object whose text throws", { id: 7, toString: () => JSON.parse("{") }],
    ["undefined", undefined],
  ])(
    "%s, with nothing that listens for errors, is printed and does not end the process",
    async (_, thrown) => {
      const { session } = scene([answers("It is 4.")]);
      session.subscribe(() => {
        throw thrown;
      });
      expect((await session.ask("2+2?")).text).toBe("It is 4.");
      await untilPasses(() => expect(printed).toHaveBeenCalledWith(expect.any(String), thrown));
    },
  );

  it("and listens to errors harms nothing either", async () => {
    const { session } = scene([answers("It is 4.")]);
    const [bug, other] = [newBug(), newBug()];
    session.onError(() => {
      throw other;
    });
    const reports = reportsOf(session);
    session.subscribe(() => {
      throw bug;
    });
    expect((await session.ask("2+2?")).text).toBe("It is 4.");
    expect(reports[0]).toEqual({ source: "listener", error: bug });
    expect(printed).toHaveBeenCalledExactlyOnceWith(expect.any(String), other);
  });
});

describe("an error that nothing listens for", () => {
  it("is printed once for its source and message, whatever sessions it comes from", async () => {
    const bug = newBug();
    const other = newBug();
    for (const error of [bug, bug, other]) {
      const { session } = scene([answers("It is 4.")]);
      session.onEvent(() => {
        throw error;
      });
      await session.ask("2+2?");
    }
    await untilPasses(() => expect(printed).toHaveBeenCalledTimes(2));
    expect(printed.mock.calls.map(([, error]) => error)).toEqual([bug, other]);
    expect(printed.mock.calls[0]?.[0]).toMatch(/"ada" \(listener\).*session\.onError/);
  });

  it("goes to a listener that comes in the same turn of the event loop, and is not printed", async () => {
    const bug = newBug();
    const llm = new MockLlmCaller([callsTools([{ name: "pay" }]), answers("Done.")]);
    const agent = defineAgent({ llm, tools: [toolOf("pay")], config: { approval: { policy: "always" } } });
    const session = startSession(agent, { onApproval: () => "approve" });
    session.onInput(() => {
      throw bug;
    });
    void session.send("Pay.");
    const reports = reportsOf(session);
    expect(reports[0]).toEqual({ source: "listener", error: bug });
    await session.settled();
    await settled();
    expect(printed).not.toHaveBeenCalled();
  });

  it("is given to onError of the options from the start on", async () => {
    const reports: ErrorReport[] = [];
    const agent = defineAgent({ llm: new MockLlmCaller([answers("Hi.")]) });
    const onError = (report: ErrorReport): void => void reports.push(report);
    const sessions = [
      startSession(agent, { onError }),
      await openSession(agent, { log: memoryLog(), id: "ada", onError }),
    ];
    for (const session of sessions) {
      session.subscribe(() => {
        throw newBug();
      });
    }
    await sessions[0]?.send("Hello?");
    await sessions[1]?.send("Hello?");
    expect(new Set(reports.map(({ source }) => source))).toEqual(new Set(["listener"]));
    for (const session of sessions) await session.close();
  });
});

/** A copy of an object that throws when `armed` returns true and `field` is read: as a bug of the reducer would. */
function trapped<Value extends object>(
  object: Value,
  field: keyof Value & string,
  armed: () => boolean,
): Value {
  const copy = { ...object };
  const value = copy[field];
  return Object.defineProperty(copy, field, {
    enumerable: true,
    get() {
      if (armed()) throw new TypeError(`The field ${field} cannot be read.`);
      return value;
    },
  });
}

const idle = (agent: ReturnType<typeof defineAgent>): AgentState => {
  const { streaming: _, ...state } = startSession(agent).current();
  return state;
};

describe("an exception in the reducer for an input of an effect", () => {
  const broken = (armed: () => boolean) => {
    const llm = new MockLlmCaller((_, call) => answers(`answer ${call + 1}`));
    const agent = defineAgent({ llm });
    const { config, ...state } = idle(agent);
    const retries = trapped(config.retries, "maxAnswerRetries", armed);
    const session = startSession(agent, { state: { ...state, config: { ...config, retries } } });
    return { session, reports: reportsOf(session) };
  };

  it("is reported and rejects the run, and the session takes the next message", async () => {
    let isArmed = false;
    const { session, reports } = broken(() => isArmed);
    isArmed = true;
    const error = await failureOf(session.ask("2+2?"));
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ message: "The field maxAnswerRetries cannot be read." });
    expect(reports).toEqual([{ source: "transition", error: expect.any(TypeError), key: "plan/1/1/1" }]);
    isArmed = false;
    expect(session.current().reActContext.control.type).toBe("Error");
    expect((await session.ask("and 3+3?")).text).toBe("answer 2");
    expect(printed).not.toHaveBeenCalled();
  });
});

const graph = graphOf({ Planning: { LlmFinalAnswer: "Check" }, Check: { Ok: "Done" } });

/** A session whose graph cannot be read while `isArmed` says so. */
const inCheck = (isArmed: () => boolean) => {
  const llm = new MockLlmCaller((_, call) => answers(`answer ${call + 1}`));
  const agent = defineAgent({ llm, config: { graph }, states: { Check: () => "Ok" } });
  const { config, ...state } = idle(agent);
  const session = startSession(agent, { state: { ...state, config: trapped(config, "graph", isArmed) } });
  return { session, reports: reportsOf(session) };
};

/** A session in which `effectsAt` throws for a custom state; with `stays`, nothing can read the graph from then on. */
function effectsFail(stays: boolean) {
  let failures = 0;
  return inCheck(() => {
    if (failures > 0) return stays;
    if (new Error("read").stack?.includes("effectsAt") !== true) return false;
    failures += 1;
    return true;
  });
}

/** A session in which events cannot be made of the input that leads to a custom state: for now, or from then on. */
function projectionFails(stays: boolean) {
  let isArmed = false;
  let failures = 0;
  const { session, reports } = inCheck(() => isArmed);
  // The events of an input are made after the listeners of inputs have heard of it.
  session.onInput(() => {
    if (session.current().reActContext.control.type !== "Custom" || (failures += 1) > 1) return;
    isArmed = true;
    if (!stays) queueMicrotask(() => (isArmed = false));
  });
  return { session, reports };
}

describe.each([
  ["effectsAt", effectsFail],
  ["projection", projectionFails],
] as const)("an exception in %s", (source, failing) => {
  it("rejects the run, ends the loop, and the session takes the next message", async () => {
    const { session, reports } = failing(false);
    const error = await failureOf(session.ask("2+2?"));
    expect(error).toMatchObject({ reason: "InternalError", cause: expect.any(TypeError) });
    expect(reports.map((report) => report.source)).toContain(source);
    await settled();
    expect((await session.ask("and 3+3?")).text).toBe("answer 2");
  });

  it("that stays stops the session, which says why to every caller", async () => {
    const { session } = failing(true);
    expect(await failureOf(session.ask("2+2?"))).toMatchObject({ reason: "InternalError" });
    await settled();
    expect(await failureOf(session.ask("Hello?"))).toMatchObject({ reason: "InternalError" });
    expect(await failureOf(session.send("Hello?"))).toMatchObject({ reason: "InternalError" });
  });
});

describe("a session in a log that cannot continue, and whose log does not take that down", () => {
  it("gives its lease up, so that another process can run it", async () => {
    const near = memoryLog();
    const log = onAppend(near, ({ types }) => {
      if (types.includes("re-act-cancelled")) throw new LogError("LogBusy", "The log is locked by a backup.");
    });
    const bug = newBug();
    const clock = {
      now: () => 1_000,
      // Retries of a model call wait for the clock; the lease and the log do so without keeping a process alive.
      after(_ms: number, _callback: () => void, { keepsAlive = true } = {}) {
        if (keepsAlive) throw bug;
        return () => undefined;
      },
    };
    const agent = defineAgent({ llm: new MockLlmCaller([fails("server"), answers("Up again.")]) });
    await using session = await openSession(agent, { log, id: "ada", clock, onError: () => undefined });
    expect(await failureOf(session.ask("Hello?"))).toMatchObject({ reason: "InternalError", cause: bug });
    await untilPasses(() => expect(session.info().access).toBe("read"));
    expect(await failureOf(session.send("Hello?"))).toMatchObject({ reason: "InternalError" });
    await using other = await openSession(agent, { log: near, id: "ada", owner: "other" });
    expect((await other.running())?.text).toBe("Up again.");
  });
});

describe("an effect that ends without an answer", () => {
  it("is reported with its key: a question stays open", async () => {
    const llm = new MockLlmCaller([callsTools([{ name: "pay" }]), answers("Done.")]);
    const agent = defineAgent({ llm, tools: [toolOf("pay")], config: { approval: { policy: "always" } } });
    const session = startSession(agent, { onApproval: () => "approve" });
    const reports = reportsOf(session);
    const bug = newBug();
    const run = session.ask("Pay.");
    // The clock that stamps the decision breaks once.
    const now = vi.spyOn(Date, "now").mockImplementationOnce(() => 1);
    session.onInput((input) => {
      if (input.type === "re-act-observed") {
        now.mockImplementationOnce(() => {
          throw bug;
        });
      }
    });
    await untilPasses(() => expect(reports).toHaveLength(1));
    expect(reports).toEqual([{ source: "effect", error: bug, key: expect.stringMatching(/^ask\/call_1\//) }]);
    now.mockRestore();
    const [question] = session.questions();
    if (question === undefined) throw new Error("Nothing is asked.");
    await session.decide(question, "approve");
    expect((await run).text).toBe("Done.");
  });

  it("ends the loop where nothing else would continue it", async () => {
    const bug = newBug();
    /** A clock whose timers stop working. Its methods read its fields, so they must be called on it. */
    class BreakingClock extends TestClock {
      isBroken = false;
      override after(ms: number, callback: () => void): () => void {
        if (this.isBroken) throw bug;
        return super.after(ms, callback);
      }
    }
    const clock = new BreakingClock();
    const llm = new MockLlmCaller((_, call) =>
      call === 0
        ? { ok: false, partial: "", failure: { kind: "server", message: "down", retryable: true } }
        : answers("Up again."),
    );
    const session = startSession(defineAgent({ llm }), { clock });
    const reports = reportsOf(session);
    clock.isBroken = true;
    expect(await failureOf(session.ask("2+2?"))).toMatchObject({ reason: "InternalError", cause: bug });
    expect(reports).toMatchObject([{ source: "effect", error: bug, key: "wait/plan/1/1/2" }]);
    clock.isBroken = false;
    expect((await session.ask("and now?")).text).toBe("Up again.");
  });
});

describe("an answer whose schema is checked by a promise of another realm", () => {
  it("is waited for", async () => {
    const schema = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) => runInNewContext("Promise.resolve({ value })", { value }),
        jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
      },
    };
    const llm = new MockLlmCaller([answers('{"n":4}')]);
    const session = startSession(defineAgent({ llm, answer: schema }));
    expect((await session.ask("2+2?")).answer).toEqual({ n: 4 });
  });
});
