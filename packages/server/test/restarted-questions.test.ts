import { agentTool } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { anything, dataOf } from "./ag-ui-data.ts";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import type { SceneOptions } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

/** A shop whose two sub-agents, one below the other, ask before they pay. Its servers have one storage. */
class Shop {
  readonly storage = new MemoryStorage();
  readonly paid: unknown[] = [];

  server(options: SceneOptions = {}): AgUiScene {
    const log = memoryLog(this.storage);
    const pay = toolOf("pay", (input) => (this.paid.push(input), "paid"), { approval: "always" });
    const byResults = (name: string, calls: Parameters<typeof callsTools>[0]) =>
      new MockLlmCaller(({ messages }) => {
        const last = messages.at(-1);
        return last?.role === "assistant" ? answers(`${name} is done.`) : callsTools(calls);
      });
    const cashier = agentOf(byResults("cashier", [{ name: "pay", arguments: { sum: 7 } }]), {
      name: "cashier",
      tools: [pay],
    });
    const asCashier = agentTool(cashier, { name: "cashier", description: "Pays.", log });
    const clerk = agentOf(byResults("clerk", [{ name: "cashier", arguments: { task: "Pay" } }]), {
      name: "clerk",
      tools: [asCashier],
    });
    const asClerk = agentTool(clerk, { name: "clerk", description: "Has others pay.", log });
    const calls = ["cashier", "clerk"].map((name) => ({ name, arguments: { task: "Pay" } }));
    const boss = agentOf(byResults("boss", calls), {
      tools: [asCashier, asClerk],
      data: anything({ x: 1 }),
    });
    return new AgUiScene(boss, { log: memoryLog(this.storage), ...options });
  }
}

const approve = ({ id }: { readonly id: string }) =>
  ({ interruptId: id, status: "resolved", payload: { approved: true } }) as const;

describe("an answer to the question of a sub-agent after a restart of the server", () => {
  it("is taken when the sub-agent asks again", async () => {
    const shop = new Shop();
    const before = shop.server();
    await say(before.client(), "Pay");
    const { interrupts } = before;
    expect(interrupts).toHaveLength(2);
    await before[Symbol.asyncDispose]();
    await using after = shop.server();
    await after.client().runAgent({ resume: interrupts.map(approve) });
    expect(after.outcome).toEqual({ type: "success" });
    expect(shop.paid).toEqual([{ sum: 7 }, { sum: 7 }]);
    expect(after.failures).toEqual([]);
  });

  it("is taken also without its path", async () => {
    const shop = new Shop();
    const before = shop.server();
    await say(before.client(), "Pay");
    const [id = ""] = await before.sessionIds();
    const { body } = await before.scene.as("ada").get(`/sessions/${id}`);
    await before[Symbol.asyncDispose]();
    await using after = shop.server();
    for (const { toolCallId, digest } of body.questions) {
      const decision = { toolCallId, digest, decision: "approve" };
      const decided = await after.scene.as("ada").post(`/sessions/${id}/decisions`, decision);
      expect(decided.body).toMatchObject({ status: "accepted" });
    }
    await expect.poll(() => shop.paid).toHaveLength(2);
  });

  it("is refused, and nothing with it, if the question is not asked in time", async () => {
    const shop = new Shop();
    const before = shop.server();
    await say(before.client(), "Pay");
    const { interrupts } = before;
    const clock = new TestClock();
    await before[Symbol.asyncDispose]();
    await using after = shop.server({ clock });
    const client = after.client();
    client.setState({ x: 2 });
    const unknown = { interruptId: "unknown", status: "resolved", payload: { approved: true } } as const;
    let refusal = "";
    client
      .runAgent({ resume: [...interrupts.map(approve), unknown] })
      .catch((error: Error) => (refusal = error.message));
    await expect
      .poll(async () => {
        await clock.advanceAsync(1_000);
        return refusal;
      })
      .toContain("unavailable");
    expect(refusal).toContain("unknown");
    expect(await dataOf(after)).toEqual({ x: 1 });
    expect(shop.paid).toEqual([]);
  });
});
