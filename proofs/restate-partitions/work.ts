import { defineAgent, defineTool, type Agent, type Tool } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";

/** What the model and the tools of an agent have done. */
export interface Work {
  /** How often a tool ran in a call, by its idempotency key. */
  readonly runs: Map<string, number>;
  /** The model calls that gave an answer. */
  answered: number;
}

export const newWork = (): Work => ({ runs: new Map(), answered: 0 });

/** An agent whose every loop has two model calls, with two tools in parallel between them. */
export function workingAgent(work: Work): Agent {
  const tool = (name: string, replay: "safe" | "once"): Tool =>
    defineTool({
      name,
      description: `Does ${name}.`,
      input: { type: "object" },
      replay,
      execute(_, { idempotencyKey }) {
        work.runs.set(idempotencyKey, (work.runs.get(idempotencyKey) ?? 0) + 1);
        return `${name} is done.`;
      },
    });
  return defineAgent({
    name: "worker",
    tools: [tool("read", "safe"), tool("pay", "once")],
    llm: new MockLlmCaller(({ messages }) => {
      if (messages.at(-1)?.role === "user") return callsTools([{ name: "read" }, { name: "pay" }]);
      work.answered += 1;
      return answers("Done.");
    }),
  });
}
