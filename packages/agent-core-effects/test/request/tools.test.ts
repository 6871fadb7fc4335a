import { answers, callsTools } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineTool, llmRequestAt, type Tool } from "../../src/index.ts";
import { World, type WorldOptions } from "../world.ts";

const tool = (name: string): Tool =>
  defineTool({ name, description: `Does ${name}.`, input: z.object({}), execute: () => "done" });

const planning = (options: WorldOptions = {}): World =>
  new World({ tools: [tool("read"), tool("delete"), tool("write")], ...options }).say("q");

const offered = ({ state }: World): readonly string[] =>
  (llmRequestAt(state)?.tools ?? []).map(({ name }) => name);

describe("the tools of a request", () => {
  it("leave out those on the blacklist", () =>
    expect(offered(planning({ config: { toolCalls: { blacklist: ["delete"] } } }))).toEqual([
      "read",
      "write",
    ]));

  it("stay the same object while the configuration stays, so that the prefix of requests is stable", async () => {
    const world = planning({
      script: [callsTools([{ name: "read" }]), answers("ok")],
      config: { toolCalls: { blacklist: ["delete"] } },
    });
    await world.settle();
    const [first, second] = world.llm.requests;
    expect(second?.tools).toBe(first?.tools);
  });

  it("change with the blacklist", () => {
    const world = planning();
    expect(offered(world)).toEqual(["read", "delete", "write"]);
    world.apply({ type: "agent-configured", config: { toolCalls: { blacklist: ["read"] } }, timestamp: 1 });
    expect(offered(world)).toEqual(["delete", "write"]);
    world.apply({ type: "agent-configured", config: { toolCalls: { blacklist: [] } }, timestamp: 2 });
    expect(offered(world)).toEqual(["read", "delete", "write"]);
  });

  it("a call of one that was not offered is refused all the same", async () => {
    const world = planning({
      script: [callsTools([{ name: "delete" }]), answers("ok")],
      config: { toolCalls: { blacklist: ["delete"] } },
    });
    await world.settle();
    expect(world.results).toMatchObject([{ isError: true }]);
  });

  it.each([{ name: "delete" } as const, "required" as const])(
    "the choice %j does not force a tool that is not offered",
    (toolChoice) => {
      const blacklistedTools = toolChoice === "required" ? ["read", "delete", "write"] : ["delete"];
      expect(
        llmRequestAt(planning({ config: { toolChoice, toolCalls: { blacklist: blacklistedTools } } }).state),
      ).toMatchObject({
        toolChoice: "auto",
      });
    },
  );
});
