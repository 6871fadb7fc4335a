import { answers, MockLlmCaller } from "@moora/llm/testing";
import { memoryLog } from "@moora/event-log";
import { describe, expect, it } from "vitest";
import { defineAgent, forkSession, openSession, readHeader, removeSession } from "../../src/index.ts";
import { World } from "../retention/family-world.ts";

const agent = defineAgent({ llm: new MockLlmCaller(() => answers("Hello.")) });

describe("the user of a fork", () => {
  it.each([
    ["that of the original session", "ada", {}, "ada"],
    ["another one", "ada", { user: "rita" }, "rita"],
    ["one where the original session has none", undefined, { user: "rita" }, "rita"],
    ["none where the original session has none", undefined, {}, undefined],
  ])("is %s", async (_, user, options, expected) => {
    const log = memoryLog();
    const owned = user === undefined ? {} : { user };
    await (await openSession(agent, { log, id: "first", ...owned })).close();
    await forkSession(log, "first", 0, { as: "second", open: "reuse", ...options });
    expect((await readHeader(log, "second")).user).toBe(expected);
  });

  it("must be a text", async () => {
    const wrong = forkSession(memoryLog(), "first", 0, { as: "second", open: "reuse", user: 7 as never });
    await expect(wrong).rejects.toMatchObject({
      code: "InvalidOption",
      message: "user must be a string, got 7.",
    });
  });
});

describe("a fork of the session of a sub-agent", () => {
  it("is a session of its own: it is removed alone, and stays where the family is removed", async () => {
    const world = new World();
    await world.begin();
    const lead = (await world.log.list()).find(({ id }) => id.startsWith("lead-"))?.id ?? "";
    for (const as of ["one", "two"]) await forkSession(world.log, lead, 1, { as, open: "close" });
    expect((await readHeader(world.log, lead)).caller).toBeDefined();
    expect((await readHeader(world.log, "one")).caller).toBeUndefined();
    expect(await removeSession(world.log, "one")).toEqual(["one"]);
    const removed = await removeSession(world.log, "ada");
    expect(removed).toHaveLength(3);
    expect((await world.log.list()).map(({ id }) => id)).toEqual(["two"]);
  });
});
