import { describe, expect, it } from "vitest";
import {
  exportSession,
  forkSession,
  importSession,
  moveSession,
  readSession,
  removeSession,
  stateAt,
} from "../../src/index.ts";
import { World } from "./family-world.ts";

/** A world whose sub-agent has mailed and asks, and where each session is. */
async function begun(): Promise<World> {
  const world = new World();
  await world.begin();
  return world;
}

describe("a session with an open call of a sub-agent", () => {
  it("is not run in another log than its sub-agents after a move, so that no tool runs twice", async () => {
    const world = await begun();
    await moveSession(world.log, "ada", world.archive, { clock: world.clock });
    const opening = world.open(world.archive, { logOfTools: world.log });
    await expect(opening).rejects.toMatchObject({ name: "SessionError", code: "InvalidOption" });
    await expect(opening).rejects.toThrow(
      /^The call call_1 has its session "lead-[\w-]+" in the log of this session, but the tool lead has another log: give agentTool the log "memory" that openSession has\.$/,
    );
    expect(await world.archive.list()).toHaveLength(3);
    expect(await world.log.list()).toHaveLength(0);
    await world.finish(world.archive);
    expect(world.begun).toEqual(["mail", "pay"]);
  });

  it("is forked without a second run of its sub-agent, whose outcome the fork does not know", async () => {
    const world = await begun();
    const { records } = await readSession(world.log, "ada");
    await forkSession(world.log, "ada", records.length, { as: "fork", open: "reuse" });
    const { state } = await stateAt(world.log, "fork");
    expect(state.toolCalls["call_1"]?.result).toMatchObject({ isSuccess: false, code: "outcome-unknown" });
    await world.finish(world.log, "fork");
    expect(world.begun).toEqual(["mail"]);
  });

  it("is not imported without the session of its sub-agent", async () => {
    const world = await begun();
    const text = await exportSession(world.log, "ada");
    await expect(importSession(world.archive, text)).rejects.toMatchObject({
      name: "SessionError",
      code: "InvalidOption",
      message:
        "The call call_1 of lead is open and has begun, and what it has done is not in this text: it would begin again. " +
        'Move the session with moveSession, or export a fork of it with open: "close".',
    });
    expect(await world.archive.list()).toHaveLength(0);
    await world.finish(world.log);
    expect(world.begun).toEqual(["mail", "pay"]);
  });

  it("is imported where its sub-agent is, as a fork that has closed the call, and when the call has ended", async () => {
    const world = await begun();
    const { log, archive } = world;
    const text = await exportSession(log, "ada");
    await forkSession(log, "ada", 3, { as: "closed", open: "close" });
    await importSession(archive, await exportSession(log, "closed"));
    await log.remove("ada");
    await importSession(log, text);
    await world.finish(log);
    expect(world.begun).toEqual(["mail", "pay"]);
    await importSession(archive, await exportSession(log, "ada"));
    await removeSession(log, "ada");
    await world.finish(archive);
    expect(world.begun).toEqual(["mail", "pay"]);
  });
});
