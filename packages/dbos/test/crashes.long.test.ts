import { verifySession, type AgentState } from "@moora/agent";
import { describe, expect, it } from "vitest";
import { isDone, message, Scene } from "./support.ts";

const phases = ["begun", "worked", "reported"] as const;

type Phase = (typeof phases)[number];

/** Every combination of the phases of `read` (safe), `write` (keyed) and `pay` (once) when their process is killed. */
const cases = phases.flatMap((read) =>
  phases.flatMap((write) =>
    phases.map((pay) => ({ id: `${read}-${write}-${pay}`, phases: { read, write, pay } })),
  ),
);

const tools = ["read", "write", "pay"] as const;

const linesAt: Readonly<Record<Phase, readonly string[]>> = {
  begun: ["began"],
  worked: ["began", "worked"],
  reported: ["began", "worked"],
};

/** How a call of a tool ended; undefined while it has not. */
function resultOf(state: AgentState, tool: string): string | undefined {
  const { result } = Object.values(state.toolCalls).find(({ name }) => name === tool) ?? {};
  if (result === undefined || result === null) return undefined;
  return result.isSuccess ? "success" : result.code;
}

/** Posts a batch for each case, kills the process in the middle of all of them, and lets another one continue. */
async function checkMatrix(
  scene: Scene,
  next: { readonly executor: string; readonly takesOver: boolean },
): Promise<void> {
  const killed = await scene.launch({ holds: true, takesOver: next.takesOver });
  for (const { id, phases: at } of cases) {
    const content = `${at.read} ${at.write} ${at.pay}`;
    expect(await killed.post(id, message(content))).toBe(true);
  }
  const hasComeSoFar = (at: (typeof cases)[number]) => (state: AgentState) =>
    scene.runs(at.id).length === tools.flatMap((tool) => linesAt[at.phases[tool]]).length &&
    tools.every((tool) => at.phases[tool] !== "reported" || resultOf(state, tool) !== undefined);
  for (const one of cases) await scene.until(one.id, hasComeSoFar(one));
  await killed.kill();

  await scene.launch(next);
  for (const { id, phases: at } of cases) {
    const state = await scene.until(id, isDone);
    const runsOf = (tool: string): readonly string[] =>
      scene.runs(id).filter((line) => line.startsWith(`${tool} began`));
    const again = (tool: "read" | "write"): number => (at[tool] === "reported" ? 1 : 2);
    expect([id, ...tools.map((tool) => runsOf(tool).length)]).toEqual([id, again("read"), again("write"), 1]);
    expect(new Set(runsOf("write")).size, "a keyed tool gets the same key").toBe(1);
    expect([id, ...tools.map((tool) => resultOf(state, tool))]).toEqual([
      id,
      "success",
      "success",
      at.pay === "reported" ? "success" : "outcome-unknown",
    ]);
    expect(await verifySession(scene.log, id)).toMatchObject({ ok: true });
  }
}

describe("a batch of three tools whose process is killed in each combination of phases", () => {
  it("continues when the process is launched again", { timeout: 120_000 }, async () => {
    await using scene = await Scene.start();
    await checkMatrix(scene, { executor: "one", takesOver: false });
  });

  it("continues in another process that takes over", { timeout: 120_000 }, async () => {
    await using scene = await Scene.start();
    await checkMatrix(scene, { executor: "two", takesOver: true });
  });
});
