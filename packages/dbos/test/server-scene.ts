import { defineAgent, defineTool, type Agent } from "@moora/agent";
import { MockLlmCaller } from "@moora/llm/testing";

/** The agent of `children/host.ts` at a server, which must not call its model and tools. */
export function servedAgent(used: string[]): Agent {
  const fail = (what: string): never => {
    used.push(what);
    throw new Error(`The server has run ${what}.`);
  };
  const tools = ["read", "write", "pay"].map((name) =>
    defineTool({
      name,
      description: `Does ${name}.`,
      input: { type: "object" },
      replay: "once",
      execute: () => fail(name),
    }),
  );
  return defineAgent({ name: "batch", llm: new MockLlmCaller(() => fail("the model")), tools });
}
