import { askHuman, defineAgent, defineTool, type Agent } from "@moora/agent";
import { answers, callsTools, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import { z } from "zod";

/** The turns of a model that pays and then answers. */
export const pays = (): MockStep[] => [
  callsTools([{ name: "pay", arguments: { euros: 5 } }]),
  answers("It is paid."),
];

/** An agent whose tool `pay` needs approval, and the payments that were made. */
export function payingAgent(...turns: readonly MockStep[]): { agent: Agent; payments: number[] } {
  const payments: number[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({ euros: z.number() }),
    approval: "always",
    execute({ euros }, { progress }) {
      progress("paying");
      payments.push(euros);
      return `paid ${euros}`;
    },
  });
  const tools = [pay, askHuman(), askHuman({ name: "ask_size", answer: z.object({ size: z.number() }) })];
  return { agent: defineAgent({ name: "cashier", llm: new MockLlmCaller([...turns]), tools }), payments };
}
