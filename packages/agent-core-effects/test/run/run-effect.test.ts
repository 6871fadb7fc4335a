import { initialAgentState, type AgentInput } from "@moora/agent-core-state-machine";
import { answers, callsTools, fails } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";
import {
  defineTool,
  runProgram,
  runProgramSync,
  effectsAt,
  inputAt,
  NotSynchronous,
  programOf,
  type StateHandler,
  type Tool,
} from "../../src/index.ts";
import { World } from "../world.ts";
import { graphOf } from "@moora/testbed/graph-of";

const graph = graphOf({
  Planning: { LlmFinalAnswer: "Checking" },
  Checking: { Ok: "Done", HandlerFailed: "Planning" },
});

describe("a state of the host's own", () => {
  const checking = async (handler?: StateHandler): Promise<World> => {
    const states = handler === undefined ? {} : { Checking: handler };
    const world = new World({ script: [answers("4"), answers("5")], config: { graph }, parts: { states } });
    await world.say("2+2?").perform("plan/1/1/1");
    expect(world.keys).toEqual(["state/1/1/1"]);
    await world.perform("state/1/1/1");
    return world;
  };

  it.each<[string, StateHandler]>([
    ["now", () => "Ok"],
    ["later", async () => ({ event: "Ok", note: "All is well." })],
  ])("is left by the event that its handler names %s", async (_, handler) => {
    expect((await checking(handler)).state.reActContext.control.type).toBe("Done");
  });

  it("takes a note for the trace, which the model does not see", async () => {
    const world = await checking(() => ({ event: "Ok", trace: { text: "\ud800ne", data: { score: 7 } } }));
    expect(world.inputs.at(-1)).toMatchObject({
      type: "state-handled",
      trace: { text: "\ufffdne", data: { score: 7 } },
    });
    expect(JSON.stringify(world.state)).not.toContain("score");
  });

  it("gives its handler the state, a signal, a clock, the event that led here and an idempotency key", async () => {
    const handler = vi.fn<StateHandler>(() => "Ok");
    await checking(handler);
    const [state, context] = handler.mock.calls[0] ?? [];
    expect(state?.messages.at(-1)?.content).toBe("4");
    expect(context?.signal).toBeInstanceOf(AbortSignal);
    expect(context?.now()).toBe(1_000);
    expect(context).toMatchObject({
      idempotencyKey: "session/state/1/1/1",
      attempt: 1,
      event: "LlmFinalAnswer",
    });
  });

  it.each<[string, StateHandler, string]>([
    [
      "throws",
      () => {
        throw new Error("out of order");
      },
      "out of order",
    ],
    ["rejects", () => Promise.reject(new Error("out of order")), "out of order"],
    [
      "returns nothing",
      () => JSON.parse("[]")[0],
      "The handler of Checking returned undefined; return the name of an event, or { event }.",
    ],
    ["gives something that is not an event", () => JSON.parse("7"), "The handler of Checking returned 7"],
    [
      "gives an event that is not text",
      () => JSON.parse('{"event":7}'),
      "The handler of Checking returned an object",
    ],
    ["gives the trace text alone", () => JSON.parse('{"event":"Ok","trace":"checked"}'), "trace: "],
    ["gives the trace nothing", () => JSON.parse('{"event":"Ok","trace":null}'), "trace: "],
    [
      "gives the trace data that logs cannot contain",
      () => ({ event: "Ok", trace: { text: "Checked.", data: { at: NaN } } }),
      "trace.data.at: JSON does not keep NaN.",
    ],
    [
      "gives the trace too much data",
      () => ({ event: "Ok", trace: { text: "Checked.", data: "x".repeat(4_000) } }),
      "trace.data: Longer than 4000 characters of JSON.",
    ],
  ])("is left by HandlerFailed, with a note for the model, where it %s", async (_, handler, words) => {
    const world = await checking(handler);
    expect(world.keys).toEqual(["plan/1/2/1"]);
    expect(JSON.stringify(world.state.transcript.at(-1))).toContain(words);
  });

  it.each(["its time is up", "the loop is cancelled"])(
    "hears nothing more of a tool that its handler called after %s",
    async (end) => {
      const reports: (() => void)[] = [];
      const returns: ((text: string) => void)[] = [];
      const slow = defineTool({
        name: "slow",
        description: "Works.",
        input: z.object({}),
        timeoutMs: 10,
        execute: (_, { progress }) => {
          reports.push(() => progress("working"));
          return new Promise<string>((resolve) => returns.push(resolve));
        },
      });
      const handler: StateHandler = async (_, { callTool }) => {
        await callTool("slow", {});
        return "Ok";
      };
      const world = new World({
        script: [answers("4")],
        tools: [slow],
        config: { graph },
        parts: { states: { Checking: handler } },
      });
      await world.say("2+2?").perform("plan/1/1/1");
      const cancel = new AbortController();
      const running = world.perform("state/1/1/1", cancel.signal);
      await untilPasses(() => expect(reports).toHaveLength(1));
      const progress = (): number => world.notices.filter(({ type }) => type === "ToolCallProgress").length;
      reports[0]?.();
      expect(progress()).toBe(1);
      if (end === "its time is up") world.clock.advance(10);
      else cancel.abort();
      reports[0]?.();
      expect(progress()).toBe(1);
      returns[0]?.("done");
      await running;
    },
  );

  it("ends the loop where it has no handler", async () => {
    expect((await checking()).state.reActContext.control).toMatchObject({
      failure: { kind: "InvalidTransition", event: "NoHandlerForState" },
    });
  });
});

describe("a wait", () => {
  const waiting = async (retryAfterMs: number): Promise<World> => {
    const world = new World({
      script: [fails("rate-limit", { retryAfterMs }), answers("4")],
      config: { retries: { maxDelayMs: 2 ** 40 } },
    });
    await world.say("2+2?").perform("plan/1/1/1");
    return world;
  };
  const key = "wait/plan/1/1/2";

  it("ends when its time has come by the clock (F05)", async () => {
    const world = await waiting(2_000);
    expect(world.keys).toEqual([key]);
    const running = world.perform(key);
    world.clock.advance(1_999);
    await Promise.resolve();
    expect(world.keys).toEqual([key]);
    world.clock.advance(1);
    await running;
    expect(world.keys).toEqual(["plan/1/1/2"]);
    expect(world.clock.waiting).toBe(0);
  });

  it("is over at once when its time has passed meanwhile, as after a restart", async () => {
    const world = await waiting(2_000);
    world.clock.advance(5_000);
    await world.perform(key);
    expect(world.keys).toEqual(["plan/1/1/2"]);
  });

  it("may be longer than a timer can wait", async () => {
    const world = await waiting(2 ** 32);
    const running = world.perform(key);
    expect(world.clock.longest).toBe(2 ** 31 - 1);
    world.clock.advance(2 ** 32 - 1);
    expect(world.clock.waiting).toBe(1);
    world.clock.advance(1);
    await running;
    expect(world.keys).toEqual(["plan/1/1/2"]);
  });

  it("leaves no timer when it is called off, and dispatches nothing", async () => {
    const world = await waiting(2_000);
    const cancel = new AbortController();
    const running = world.perform(key, cancel.signal);
    expect(world.clock.waiting).toBe(1);
    cancel.abort();
    await running;
    expect(world.clock.waiting).toBe(0);
    expect(world.keys).toEqual([key]);
  });
});

describe("a question", () => {
  const pay = defineTool({ name: "pay", description: "Pays.", input: z.object({}), execute: () => "paid" });
  const asking = async (host: ConstructorParameters<typeof World>[0]): Promise<World> => {
    const script = [callsTools([{ name: "pay" }]), answers("Done.")];
    const config = { approval: { policy: "always" as const } };
    return await new World({ script, tools: [pay], config, ...host }).say("Pay.").settle();
  };

  it("is passed to the approval handler of the host, and waits for a decision", async () => {
    const ask = vi.fn();
    const world = await asking({ host: { ask } });
    await world.perform("ask/call_1/1/1/0");
    expect(ask).toHaveBeenCalledWith(
      expect.objectContaining({ type: "ask-human", name: "pay", toolCallId: "call_1" }),
    );
    expect(world.keys).toEqual(["ask/call_1/1/1/0"]);
  });

  it("that cannot be put stays open", async () => {
    const world = await asking({ host: { ask: () => Promise.reject(new Error("no line")) } });
    await expect(world.perform("ask/call_1/1/1/0")).rejects.toThrow("no line");
    expect(world.keys).toEqual(["ask/call_1/1/1/0"]);
  });
});

describe("the drivers", () => {
  const add = (execute: () => unknown): Tool =>
    defineTool({ name: "add", description: "Adds.", input: z.object({}), execute });
  const acting = async (tool: Tool): Promise<World> => {
    const world = new World({ script: [callsTools([{ name: "add" }])], tools: [tool] });
    await world.say("q").perform("plan/1/1/1");
    return world;
  };
  const runAt = ({ state, host }: World, synchronous = false): ReturnType<typeof programOf> => {
    const [effect] = Object.values(effectsAt(state));
    if (effect === undefined) throw new Error("Nothing is wanted.");
    return programOf(effect, state, { ...host, synchronous });
  };
  const types = (inputs: readonly { readonly type: string }[]): readonly string[] =>
    inputs.map(({ type }) => type);

  it("runProgram: dispatches each batch and continues with the resulting state", async () => {
    const world = await acting(add(async () => "3"));
    const dispatched: string[] = [];
    await runProgram(runAt(world), async (...late) => {
      const inputs = late.map((input) => inputAt(input, world.state));
      dispatched.push(...types(inputs));
      return world.apply(...inputs);
    });
    expect(dispatched).toEqual(["tool-call-started", "tool-call-completed"]);
  });

  it("runProgram: rejects when dispatching does, and the effect does nothing more", async () => {
    const execute = vi.fn(() => "3");
    const world = await acting(add(execute));
    await expect(runProgram(runAt(world), () => Promise.reject(new Error("stopped")))).rejects.toThrow(
      "stopped",
    );
    expect(execute).not.toHaveBeenCalled();
  });

  it("runProgram: does not act if the intent did not apply", async () => {
    const execute = vi.fn(() => "3");
    const world = await acting(add(execute));
    const dispatched: string[] = [];
    await runProgram(runAt(world), (...late) => {
      const inputs = late.map((input) => inputAt(input, world.state));
      dispatched.push(...types(inputs));
      return false;
    });
    expect(dispatched).toEqual(["tool-call-started"]);
    expect(execute).not.toHaveBeenCalled();
    expect(world.clock.waiting).toBe(0);
  });

  it("runProgram: passes a failed wait to the effect", async () => {
    const inputs: AgentInput[] = [];
    await runProgram(runAt(await acting(add(() => Promise.reject(new Error("no"))))), (...batch) => {
      inputs.push(...batch.map((input) => inputAt(input, initialAgentState())));
      return true;
    });
    expect(inputs[1]).toMatchObject({ result: { isSuccess: false, error: "no" } });
  });

  it("runProgramSync: dispatches each batch if no effect waits, and does not act if the intent did not apply", async () => {
    const execute = vi.fn(() => "3");
    for (const hasApplied of [true, false]) {
      const dispatched: string[] = [];
      const world = await acting(add(execute));
      runProgramSync(runAt(world, true), (...late) => {
        const inputs = late.map((input) => inputAt(input, world.state));
        dispatched.push(...types(inputs));
        return hasApplied;
      });
      expect(dispatched).toEqual(
        hasApplied ? ["tool-call-started", "tool-call-completed"] : ["tool-call-started"],
      );
    }
    expect(execute).toHaveBeenCalledTimes(1);
  });

  it("runProgramSync: throws for an effect that waits, and leaves neither timer nor rejection", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const world = await acting(add(() => Promise.reject(new Error("no"))));
    expect(() => runProgramSync(runAt(world, true), () => true)).toThrow(NotSynchronous);
    expect(world.clock.waiting).toBe(0);
    const predicate = new World({
      script: [callsTools([{ name: "add" }])],
      tools: [add(() => "")],
      config: { approval: { policy: { predicate: "late" } } },
      parts: { predicates: { late: () => Promise.reject(new Error("no")) } },
    }).say("q");
    expect(() => runProgramSync(runAt(predicate, true), () => true)).toThrow(NotSynchronous);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it("runProgramSync: throws for a model that cannot answer at once, and does not call it", () => {
    const call = vi.fn();
    const world = new World({ parts: { llm: { name: "slow", call } } }).say("q");
    expect(() => runProgramSync(runAt(world, true), () => true)).toThrow("The model slow has no callSync.");
    expect(call).not.toHaveBeenCalled();
  });

  it("an effect of a state that wants nothing does not exist", () =>
    expect(Object.keys(effectsAt(initialAgentState()))).toEqual([]));
});
