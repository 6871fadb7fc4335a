import { memoryLog } from "@moora/event-log";
import { answers } from "@moora/llm/testing";
import { mcpServer } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { payingAgent } from "../support/agents.ts";
import { connections } from "../support/clients.ts";

const textOf = ({ content }: { readonly content: readonly unknown[] }): string =>
  content.map((block) => (block as { text: string }).text).join();

describe.each(Object.entries(connections))("the session of a call, over %s", (_, connect) => {
  it.each([" ", "../x", "\u0000", "x".repeat(201), "x".repeat(5_000)])(
    "is not found for what cannot be an id: %#",
    async (session) => {
      const errors: unknown[] = [];
      const onError = (error: unknown): void => void errors.push(error);
      await using server = mcpServer([payingAgent().agent], { log: memoryLog(), onError });
      const client = await connect(server);
      const failed = await client.callTool({ name: "cashier", arguments: { task: "Hello.", session } });
      expect(failed.isError).toBe(true);
      expect(textOf(failed)).toMatch(/^Session ".{1,220}" not found\.$/);
      expect(errors).toEqual([]);
      await client.close();
    },
  );

  it("is a new one for an empty text", async () => {
    const log = memoryLog();
    await using server = mcpServer([payingAgent(answers("Hello.")).agent], { log });
    const client = await connect(server);
    const done = await client.callTool({ name: "cashier", arguments: { task: "Hi.", session: "" } });
    const [{ id } = { id: "" }] = await log.list();
    expect(done.structuredContent).toEqual({ answer: "Hello.", session: id });
    const failed = await client.callTool({ name: "cashier", arguments: { session: "" } });
    expect(textOf(failed)).toBe("A new session needs a task.");
    await client.close();
  });

  it("is not found as a resource if its URI cannot be decoded", async () => {
    await using server = mcpServer([payingAgent().agent], { log: memoryLog() });
    const client = await connect(server);
    for (const id of ["%zz", "%", "%E0%A4"])
      await expect(client.readResource({ uri: `moora://sessions/${id}` })).rejects.toThrow(/not found/i);
    await client.close();
  });
});
