import { defineAgent, defineTool, type Agent } from "@moora/agent";
import type { Counter } from "./counter.ts";
import { call, scripted } from "./counting-agent.ts";

/** An agent whose model calls one tool, which counts that it runs, and then works until it is let go. */
export function heldAgent(counter: Counter, tool: string, work: () => Promise<void>): Agent {
  const definitions = [
    { name: "once", replay: "once" },
    { name: "keyed", replay: "keyed" },
    { name: "asked", replay: "keyed", approval: "always" },
  ] as const;
  return defineAgent({
    name: "held",
    llm: scripted([[call(tool)]]),
    tools: definitions.map((definition) =>
      defineTool({
        ...definition,
        description: "Takes its time.",
        input: { type: "object", properties: { of: { type: "number" } }, required: ["of"] },
        timeoutMs: 3_600_000,
        async execute(args, { idempotencyKey: key, attempt }) {
          counter.ran({ key, tool: definition.name, args: JSON.stringify(args), attempt });
          await work();
          return `did ${definition.name}`;
        },
      }),
    ),
  });
}
