import { openSession } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { hangs } from "@moora/llm/testing";
import { mcpOfServer } from "@moora/mcp";
import { Gates, remoteLog } from "@moora/testbed/durable/remote-log";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { byName, Scene } from "@moora/testbed/server/scene";

const waiter = () => agentOf(() => hangs("Hm"));

/** Calls the agent in a session, for Ada. Its answer is not read. */
const callOf = (id: string, task: string, signal: AbortSignal): Request =>
  new Request("http://localhost/mcp", {
    method: "POST",
    headers: {
      authorization: "Bearer ada",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "helper", arguments: { task, session: id } },
    }),
    signal,
  });

/** A server whose log is behind a network, and whose process is stopped for longer than its lease. */
function stoppedServer() {
  const storage = new MemoryStorage();
  const clock = new TestClock();
  const gates = new Gates();
  const scene = new Scene(waiter(), {
    log: remoteLog(memoryLog(storage), gates.pass),
    clock,
    mcp: mcpOfServer(),
    metrics: true,
    authorize: (request) => {
      const grant = byName(request);
      return grant && { ...grant, mayReadMetrics: true };
    },
  });
  const later = {
    now: () => clock.now() + 60_000,
    after: (ms: number, callback: () => void) => clock.after(ms, callback),
  };
  /** The result of the first post of a kind, once it has ended. */
  const resultOf = async (kind: string): Promise<string> => {
    for (;;) {
      const text = await (await scene.as("ada").send("/metrics", {})).text();
      const [, result] =
        new RegExp(`moora_posts_total\\{kind="${kind}",result="(\\w+)"\\} 1`).exec(text) ?? [];
      if (result !== undefined) return result;
      await turn();
    }
  };
  return {
    scene,
    gates,
    resultOf,
    takeOver: async (id: string) =>
      await openSession(waiter(), { log: memoryLog(storage), id, clock: later }),
    [Symbol.asyncDispose]: async () => await scene[Symbol.asyncDispose](),
  };
}

describe("a call of an agent whose session gets another owner in the middle of a post", () => {
  it("cancels its loop, and not the next one", async () => {
    await using stopped = stoppedServer();
    const { scene, gates, resultOf, takeOver } = stopped;
    const ada = scene.as("ada");
    const id = await ada.create();
    await using viewer = await ada.events(id);
    const leaving = new AbortController();
    const calling = scene.server.fetch(callOf(id, "Wait.", leaving.signal));
    await viewer.until("llm-call-started");
    // The cancel is recorded, and its answer is lost.
    const gate = gates.hold("append", "back", "re-act-cancelled");
    leaving.abort();
    await gate.reached;
    await using taker = await takeOver(id);
    await taker.send("Next");
    gate.break();
    expect(await resultOf("cancel")).toBe("accepted");
    await taker.refresh();
    expect(taker.current().reActContext).toMatchObject({ loop: 2, control: { type: "Planning" } });
    await calling;
  });

  it("sends its task once", async () => {
    await using stopped = stoppedServer();
    const { scene, gates, resultOf, takeOver } = stopped;
    const id = await scene.as("ada").create();
    const gate = gates.hold("append", "back", "user-message-received");
    const leaving = new AbortController();
    const calling = scene.server.fetch(callOf(id, "Wait.", leaving.signal));
    await gate.reached;
    await using taker = await takeOver(id);
    gate.break();
    expect(await resultOf("messages")).toBe("accepted");
    await taker.refresh();
    expect(taker.current().messages.filter(({ role }) => role === "user")).toHaveLength(1);
    leaving.abort();
    await turn();
    await calling;
  });
});
