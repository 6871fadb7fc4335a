import { defineAgent, defineTool, type LogEntry } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { restateSession } from "../src/index.ts";
import { ask, serveLocally } from "./local-service.ts";
import { RestateServer } from "./restate-server.ts";

let server: RestateServer;

beforeAll(async () => {
  server = await RestateServer.start();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const input = z.object({});

describe("onLog of a process that serves an agent on Restate", () => {
  it("receives the retry of a tool", async () => {
    const execute = vi.fn().mockRejectedValueOnce(new Error("The network is down.")).mockReturnValue("page");
    const agent = defineAgent({
      name: "fetcher",
      llm: new MockLlmCaller([callsTools([{ name: "fetch" }]), answers("Done.")]),
      tools: [
        defineTool({
          name: "fetch",
          description: "Fetches a page.",
          input,
          replay: "safe",
          retries: 1,
          execute: () => execute(),
        }),
      ],
      config: { retries: { delayMs: 10 } },
    });
    const entries: LogEntry[] = [];
    await using _ = await serveLocally(server, agent, { onLog: (entry) => entries.push(entry) });
    await ask(restateSession({ ingressUrl: server.ingressUrl, agent: "fetcher", id: "a" }), "Go.");
    await expect
      .poll(() => entries)
      .toMatchObject([{ level: "warn", code: "tool-retry", sessionId: "a", data: { name: "fetch" } }]);
  });

  it("receives a result that comes after its call was cancelled", async () => {
    const [begun, held] = [Promise.withResolvers<AbortSignal>(), Promise.withResolvers<string>()];
    const agent = defineAgent({
      name: "worker",
      llm: new MockLlmCaller([callsTools([{ name: "work" }])]),
      tools: [
        defineTool({
          name: "work",
          description: "Works.",
          input,
          replay: "once",
          execute: async (_, { signal }) => {
            begun.resolve(signal);
            return await held.promise;
          },
        }),
      ],
    });
    const entries: LogEntry[] = [];
    await using _ = await serveLocally(server, agent, { onLog: (entry) => entries.push(entry) });
    const session = restateSession({ ingressUrl: server.ingressUrl, agent: "worker", id: "a" });
    await session.send("Work.");
    const signal = await begun.promise;
    expect(await session.cancel()).toBe(true);
    await expect.poll(() => signal.aborted, { timeout: 10_000 }).toBe(true);
    held.resolve("late");
    await expect
      .poll(() => entries)
      .toContainEqual(
        expect.objectContaining({ level: "info", code: "late-result", data: { key: "tool/call_1/1" } }),
      );
  });
});
