import { memoryLog } from "@moora/event-log";
import { describe, expect, it } from "vitest";
import {
  defineAgent,
  defineTool,
  exportSession,
  forkSession,
  importSession,
  moveSession,
  openSession,
  readSession,
  removeSession,
  stateAt,
} from "../../src/index.ts";
import { callsThenAnswers } from "../restarts/restarts.ts";
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
        "The call call_1 of lead is open and has begun, and this log does not have its session: it would begin again. " +
        'Move the session with moveSession, or export a fork of it with open: "close".',
    });
    expect(await world.archive.list()).toHaveLength(0);
    await world.finish(world.log);
    expect(world.begun).toEqual(["mail", "pay"]);
  });

  it("is imported with an open call of a tool that continues its work elsewhere by its idempotency key", async () => {
    const started = Promise.withResolvers<string>();
    const keys: string[] = [];
    const job = defineTool({
      name: "job",
      description: "Starts a job, or waits for the one that runs.",
      input: { type: "object" },
      replay: "keyed",
      resumable: true,
      async execute(_, { idempotencyKey, signal }) {
        keys.push(idempotencyKey);
        if (keys.length > 1) return "done";
        started.resolve(idempotencyKey);
        return await new Promise((_resolve, reject) => signal.addEventListener("abort", reject));
      },
    });
    const llm = callsThenAnswers({ name: "job", arguments: {} });
    const agent = defineAgent({ llm, tools: [job] });
    const [log, other] = [memoryLog(), memoryLog()];
    const session = await openSession(agent, { log, id: "ada" });
    await session.send("Go.");
    await started.promise;
    await session.close();
    await importSession(other, await exportSession(log, "ada"));
    await using imported = await openSession(agent, { log: other, id: "ada" });
    await imported.settled();
    expect(imported.current().toolCalls["call_1"]?.result).toMatchObject({ isSuccess: true });
    expect(new Set(keys)).toEqual(new Set([await started.promise]));
    expect(keys).toHaveLength(2);
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
