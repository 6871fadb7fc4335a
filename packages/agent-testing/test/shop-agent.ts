import { defineAgent, defineTool, type Agent } from "@moora/agent";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import * as z from "zod";

const execute = (): string => "The simulation answers for its tools.";

/** An agent whose tools differ in everything that a crash, a person or a policy makes of their calls. */
export const shopAgent: Agent = defineAgent({
  name: "shop",
  llm: new MockLlmCaller(() => answers("The simulation answers for its models.")),
  tools: [
    defineTool({
      name: "search",
      description: "Finds what was asked for.",
      replay: "safe",
      input: z.object({ query: z.string() }),
      execute,
    }),
    defineTool({
      name: "pay",
      description: "Pays.",
      risk: "high",
      input: z.object({ euros: z.number() }),
      execute,
    }),
    defineTool({
      name: "mail",
      description: "Sends a letter, one at a time.",
      replay: "keyed",
      maxParallel: 1,
      input: z.object({ to: z.string() }),
      execute,
    }),
    defineTool({ name: "book", description: "Books.", onUnknown: "ask", input: z.object({}), execute }),
    defineTool({
      name: "ship",
      description: "Ships, and can be asked later whether it did.",
      input: z.object({}),
      execute,
      probe: () => "unknown",
    }),
  ],
  config: { approval: { policy: { above: "high" }, expiresAfterMs: 60_000, remindAfterMs: 20_000 } },
});
