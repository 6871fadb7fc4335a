import { answers, callsTools } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineTool } from "../../src/index.ts";
import { World, type WorldOptions } from "../world.ts";
import { graphOf } from "@moora/testbed/graph-of";

const graph = graphOf({ Planning: { LlmFinalAnswer: "Checking" }, Checking: { Ok: "Done" } });

/** Runs an effect that is called off from within, and returns the types of the inputs that it dispatched after that. */
async function inputsAfter(world: World, key: string, cancel: AbortController): Promise<readonly string[]> {
  let before = world.inputs.length;
  cancel.signal.addEventListener("abort", () => (before = world.inputs.length));
  await world.perform(key, cancel.signal).catch(() => undefined);
  expect(cancel.signal.aborted).toBe(true);
  return world.inputs.slice(before).map(({ type }) => type);
}

const begun = async (options: WorldOptions): Promise<World> => {
  const world = new World(options);
  await world.say("q").perform("plan/1/1/1");
  return world;
};

describe("an effect that is called off while code of the host is at work dispatches nothing more", () => {
  it("a model call whose answer is being checked", async () => {
    const cancel = new AbortController();
    const answerProblem = async (): Promise<string | undefined> => {
      cancel.abort();
      return undefined;
    };
    const world = new World({ script: [answers("a")], parts: { answerProblem } }).say("q");
    expect(await inputsAfter(world, "plan/1/1/1", cancel)).toEqual([]);
  });

  it("a tool that is called off as it starts", async () => {
    const cancel = new AbortController();
    const hasty = defineTool({
      name: "hasty",
      description: "Ends at once.",
      input: z.object({}),
      execute: () => {
        cancel.abort();
        return new Promise(() => undefined);
      },
    });
    const world = await begun({ script: [callsTools([{ name: "hasty" }])], tools: [hasty] });
    expect(await inputsAfter(world, "tool/call_1/1", cancel)).toEqual([]);
    expect(world.clock.waiting).toBe(0);
  });

  it("a probe", async () => {
    const cancel = new AbortController();
    const ship = defineTool({
      name: "ship",
      description: "Ships.",
      input: z.object({}),
      execute: () => "shipped",
      probe: () => {
        cancel.abort();
        return "not-run";
      },
    });
    const world = await begun({ script: [callsTools([{ name: "ship" }])], tools: [ship] });
    world.apply({ type: "tool-call-started", toolCallId: "call_1", attempt: 1, timestamp: 1 });
    world.apply({ type: "session-opened", owner: "host", timestamp: 1 });
    expect(await inputsAfter(world, "probe/call_1/2", cancel)).toEqual([]);
  });

  it.each([
    ["answers", () => "Ok"],
    [
      "throws",
      () => {
        throw new Error("Too late.");
      },
    ],
  ])("a state of the host's own that %s", async (_, handle) => {
    const cancel = new AbortController();
    const Checking = (): string => {
      cancel.abort();
      return handle();
    };
    const world = await begun({ script: [answers("a")], config: { graph }, parts: { states: { Checking } } });
    expect(await inputsAfter(world, "state/1/1/1", cancel)).toEqual([]);
  });

  it("a wait, before it has begun", async () => {
    const world = new World().say("q");
    world.apply({
      type: "llm-call-failed",
      key: "plan/1/1/1",
      failure: { kind: "server", message: "Down.", retryable: true },
      timestamp: world.clock.now(),
    });
    const before = world.inputs.length;
    await world.perform("wait/plan/1/1/2", AbortSignal.abort());
    expect(world.inputs.slice(before)).toEqual([]);
    expect(world.clock.waiting).toBe(0);
  });
});
