import { userMessage, type AgentState, type Question } from "@moora/agent";
import type { Miniflare } from "miniflare";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { bundleWorker, startWorkerd, StorageFolder } from "./workerd.ts";

const url = "http://localhost/sessions/ada";

interface Shown {
  readonly state: AgentState;
  readonly questions: readonly (Question & { readonly path: readonly string[] })[];
}

/** The session as soon as it is as `isReached` says: its object runs it without a request. */
async function shown(workerd: Miniflare, isReached: (session: Shown) => boolean): Promise<Shown> {
  for (;;) {
    const session = (await (await workerd.dispatchFetch(url)).json()) as Shown;
    if (isReached(session)) return session;
    await delay(20);
  }
}

const post = async (workerd: Miniflare, route: "inputs" | "decisions", body: object): Promise<unknown> =>
  await (
    await workerd.dispatchFetch(`${url}/${route}`, { method: "POST", body: JSON.stringify(body) })
  ).json();

describe("a sub-agent with the log of its object", () => {
  it("asks the same question after a restart of the runtime, and continues with the decision", async () => {
    using folder = new StorageFolder();
    const code = await bundleWorker("decision-worker");
    const start = (): Miniflare =>
      startWorkerd({ code, objects: { SESSIONS: "Sessions" }, folder: folder.path });
    const first = start();
    const task = JSON.stringify({ task: 'pay {"euros":2}' });
    await post(first, "inputs", userMessage(`assistant ${task}`));
    const asked = await shown(first, ({ questions }) => questions.length > 0);
    await first.dispose();

    const second = start();
    try {
      const again = await shown(second, ({ questions }) => questions.length > 0);
      expect(again.questions.map(({ digest }) => digest)).toEqual(
        asked.questions.map(({ digest }) => digest),
      );
      const [question] = again.questions;
      if (question === undefined) throw new Error("The sub-agent asks nothing.");
      const approval = { question, decision: "approve", by: "ada" };
      expect(await post(second, "decisions", approval)).toMatchObject({ status: "accepted" });
      const { state } = await shown(
        second,
        ({ state: { reActContext } }) => reActContext.control.type === "Done",
      );
      expect(state.toolCalls["call_1"]?.result).toMatchObject({
        isSuccess: true,
        content: expect.stringContaining("paid 2 for ada"),
      });
    } finally {
      await second.dispose();
    }
  });
});
