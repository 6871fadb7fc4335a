import { LogError } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { describe, expect, it } from "vitest";
import { removeSession } from "../../src/index.ts";
import { World } from "./family-world.ts";

/** The id of the session of a sub-agent. */
async function idOf({ log }: World, name: string): Promise<string> {
  return (await log.list()).find(({ id }) => id.startsWith(name))?.id ?? "";
}

describe("a sub-agent", () => {
  it("is not removed alone while its call is open, so that no tool runs twice", async () => {
    const world = new World();
    await world.begin();
    for (const [name, caller] of [
      ["lead", "ada"],
      ["worker", await idOf(world, "lead")],
    ] as const) {
      const id = await idOf(world, name);
      const removal = removeSession(world.log, id);
      await expect(removal).rejects.toMatchObject({
        name: "SessionError",
        code: "CallOpen",
        message:
          `Session "${id}" is that of a sub-agent of "${caller}", whose call of it is open. ` +
          `Cancel the call first, or remove "${caller}": its sub-agents go with it.`,
      });
    }
    await world.finish(world.log);
    expect(world.begun).toEqual(["mail", "pay"]);
  });

  it("is removed alone when its call has ended, with those that it calls", async () => {
    const world = new World();
    await world.begin();
    await world.finish(world.log);
    expect(await removeSession(world.log, await idOf(world, "lead"))).toHaveLength(2);
    await world.finish(world.log);
    expect(world.begun).toEqual(["mail", "pay"]);
  });

  it("is removed alone when its caller has canceled the call", async () => {
    const world = new World();
    await world.begin();
    const session = await world.open();
    await session.cancel();
    await session.close();
    expect(await removeSession(world.log, await idOf(world, "lead"))).toHaveLength(2);
  });

  it("is removed alone when its caller is damaged", async () => {
    const world = new World();
    await world.begin();
    const damaged = withSessions(world.log, (session) => ({
      read: (afterSeq) => {
        if (session.id === "ada") throw new LogError("LogCorrupt", "Record 2 is damaged.");
        return session.read(afterSeq);
      },
    }));
    expect(await removeSession(damaged, await idOf(world, "lead"))).toHaveLength(2);
  });
});
