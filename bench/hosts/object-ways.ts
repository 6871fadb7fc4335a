import { join } from "node:path";
import { agentTransition, userMessage, type AgentState } from "@moora/agent";
import type { ViewerMessage } from "@moora/cloudflare";
import { bundleModule, startWorkerd, StorageFolder } from "../../packages/cloudflare/test/workerd.ts";
import { isDone } from "./agent.ts";
import type { HostWays } from "./way.ts";

/** A session in a Durable Object under workerd, and as many durable writes of one row. */
export async function objectWays(): Promise<HostWays> {
  const folder = new StorageFolder();
  const runtime = startWorkerd({
    code: await bundleModule(join(import.meta.dirname, "worker.ts")),
    objects: { SESSIONS: "Sessions", WRITES: "Writes" },
    folder: folder.path,
  });
  await runtime.ready;

  async function runSession(sample: number): Promise<void> {
    const url = `http://localhost/sessions/s${sample}`;
    const { webSocket } = await runtime.dispatchFetch(`${url}/events`, { headers: { upgrade: "websocket" } });
    if (webSocket === null) throw new Error("The object accepts no socket.");
    const { promise, resolve } = Promise.withResolvers<void>();
    let state: AgentState | undefined;
    webSocket.addEventListener("message", ({ data }) => {
      const message = JSON.parse(data as string) as ViewerMessage;
      if (message.type === "state") ({ state } = message);
      if (message.type === "input" && state !== undefined) state = agentTransition(message.input)(state);
      if (state !== undefined && isDone(state)) resolve();
    });
    webSocket.accept();
    const body = JSON.stringify(userMessage("Work."));
    await (await runtime.dispatchFetch(`${url}/inputs`, { method: "POST", body })).text();
    await promise;
    webSocket.close();
  }

  return {
    ways: [
      {
        name: "a bare write of a Durable Object",
        run: async (sample) =>
          await (await runtime.dispatchFetch(`http://localhost/writes/w${sample}`)).text(),
      },
      { name: "Durable Object", beside: "a bare write of a Durable Object", run: runSession },
    ],
    async [Symbol.asyncDispose]() {
      await runtime.dispose();
      folder[Symbol.dispose]();
    },
  };
}
