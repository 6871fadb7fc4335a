import type { AgentState } from "@moora/agent";
import { describe, expect, it } from "vitest";
import type { HostProcess } from "./host-process.ts";
import { isDone, message, Scene } from "./support.ts";

const outcomeOf = (state: AgentState, tool: string): string | undefined => {
  const result = Object.values(state.toolCalls).find(({ name }) => name === tool)?.result;
  return result?.isSuccess === true ? "success" : result?.code;
};

/** A process whose tools have begun, and another one that takes over. */
async function runningTools(scene: Scene): Promise<HostProcess> {
  const host = await scene.launch({ takesOver: true, holds: true });
  await host.post("ada", message("begun begun begun"));
  await scene.until("ada", () => scene.runs("ada").length === 3);
  return host;
}

describe("a process that is shut down while its tools run, beside one that takes over", () => {
  it("keeps them until they have ended, within the time that DBOS gives to workflows", async () => {
    await using scene = await Scene.start();
    const host = await runningTools(scene);
    const killed = await scene.launch({ executor: "killed", takesOver: true, holds: true });
    await killed.post("eve", message("begun begun begun"));
    await scene.until("eve", () => scene.runs("eve").length === 3);
    const ended = host.send({ type: "shut-down", graceMs: 60_000 });
    await scene.launch({ executor: "next", takesOver: true });
    await killed.kill();
    // The next process has looked at the workflows of both.
    await scene.until("eve", isDone);
    await host.send({ type: "release" });
    expect(await ended).toBe("true");
    const state = await scene.until("ada", isDone);
    expect(["read", "write", "pay"].map((tool) => outcomeOf(state, tool))).toEqual([
      "success",
      "success",
      "success",
    ]);
    expect(scene.runs("ada").filter((line) => line.includes("began"))).toHaveLength(3);
  });

  it("gives them away when that time is over, although it lives", async () => {
    await using scene = await Scene.start();
    const host = await runningTools(scene);
    await scene.launch({ executor: "next", takesOver: true });
    expect(await host.send({ type: "shut-down", graceMs: 1 })).toBe("true");
    const state = await scene.until("ada", isDone);
    expect(["read", "write", "pay"].map((tool) => outcomeOf(state, tool))).toEqual([
      "success",
      "success",
      "outcome-unknown",
    ]);
  });
});
