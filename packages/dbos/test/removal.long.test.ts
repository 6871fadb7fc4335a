import { stateAt } from "@moora/agent";
import { describe, expect, it } from "vitest";
import type { HostProcess } from "./host-process.ts";
import { isDone, message, Scene } from "./support.ts";

/** A session that two processes know, and that a third one has removed. */
async function removedSession(): Promise<{
  readonly scene: Scene;
  readonly host: HostProcess;
  readonly other: HostProcess;
}> {
  const scene = await Scene.start();
  const host = await scene.launch();
  const other = await scene.launch({ executor: "two" });
  await host.post("ada", message("one two three"), "first");
  await scene.until("ada", isDone);
  expect(await other.send({ type: "read", id: "ada" })).toBe("Done");
  expect(await scene.log.remove("ada")).toBe(true);
  return { scene, host, other };
}

const messagesOf = async (scene: Scene): Promise<readonly unknown[]> =>
  (await stateAt(scene.log, "ada")).state.messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => content);

describe("a session on DBOS that was removed", () => {
  it("is created again by the next post, also with a key that the removed one had", async () => {
    const { scene, host, other } = await removedSession();
    await using _ = scene;
    expect(await host.post("ada", message("one two three", "again"), "first")).toBe(true);
    expect(await host.post("ada", message("one two three", "again"), "first")).toBe(true);
    await scene.until("ada", isDone);
    expect(await other.post("ada", message("four five six", "more"), "second")).toBe(true);
    await scene.until("ada", (state) => isDone(state) && state.messages.length > 2);
    expect(await messagesOf(scene)).toEqual(["one two three", "four five six"]);
    expect(scene.runs("ada").filter((line) => line.startsWith("pay began"))).toHaveLength(3);
  });

  it("is a new one when its state is read", async () => {
    const { scene, host, other } = await removedSession();
    await using _ = scene;
    expect(await host.send({ type: "read", id: "ada" })).toBe("Idle");
    expect(await other.send({ type: "read", id: "ada" })).toBe("Idle");
  });

  it("rejects the callers that wait for its states", async () => {
    await using scene = await Scene.start();
    const host = await scene.launch();
    await host.post("ada", message("one two three"));
    await scene.until("ada", isDone);
    const waiting = host.send({ type: "wait", id: "ada", control: "Error" });
    expect(await host.send({ type: "read", id: "ada" })).toBe("Done");
    await scene.log.remove("ada");
    expect(await waiting).toBe("LogError LogRemoved");
  });

  it("ends its workflows, and another process runs those of the next one with its id", async () => {
    await using scene = await Scene.start();
    const host = await scene.launch({ holds: true });
    const other = await scene.launch({ executor: "two" });
    expect(await other.send({ type: "read", id: "ada" })).toBe("Idle");
    await host.post("ada", message("begun begun begun"));
    await scene.until("ada", () => scene.runs("ada").length === 3);
    await scene.log.remove("ada");
    await host.post("ada", message("begun begun begun", "again"));
    await scene.until("ada", () => scene.runs("ada").length === 6);
    await host.kill();
    await other.resume();
    const { toolCalls } = await scene.until("ada", isDone);
    expect(Object.values(toolCalls).map(({ result }) => result?.isSuccess)).toEqual([true, true, false]);
  });
});
