/**
 * A server of the agent "long" as a process of its own: `child.ts DATABASE TOKENS`. Its model answers with this number of tokens. Prints its
 * address, and sends how much memory it has used at most whenever it gets a message.
 */
import { defineAgent, defineTool } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import type { LlmCaller } from "@moora/llm";
import { answers } from "@moora/llm/testing";
import { createAgentServer } from "@moora/server";
import { serve } from "@moora/server/node";
import { tokenAt, type Memory } from "./traffic.ts";

const [, , file = "", tokens = "0"] = process.argv;

const llm: LlmCaller = {
  name: "talkative",
  async call(_request, { onChunk } = {}) {
    let text = "";
    for (let index = 0; index < Number(tokens); index += 1) {
      text += tokenAt(index);
      onChunk?.({ type: "text", text: tokenAt(index) });
      // Readers are served meanwhile.
      if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return answers(text);
  },
};

const look = defineTool({
  name: "look",
  description: "Looks something up.",
  input: { type: "object" },
  execute: () => "nothing",
});

const server = createAgentServer({
  agents: [defineAgent({ name: "long", llm, tools: [look] })],
  log: sqliteLog(file),
  // The readers stay connected however long they read nothing.
  limits: { maxStreamsPerUser: 1_000, streamStallMs: 3_600_000, streamLifetimeMs: 3_600_000 },
});
const { url } = await serve(server, { port: 0 });
process.on("message", () => {
  const peak: Memory = { peakBytes: process.resourceUsage().maxRSS * 1_024 };
  process.send?.(peak);
});
console.log(`listening ${url}`);
