import { askHuman, defineAgent, defineTool, type Agent, type Tool } from "@moora/agent";
import { answers, callsTools, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import { z } from "zod";

/** The turns of a model that pays and then answers. */
export const pays = (): MockStep[] => [
  callsTools([{ name: "pay", arguments: { euros: 5 } }]),
  answers("It is paid."),
];

/** An agent whose tool `pay` needs approval, and the payments that were made. */
export const payingAgent = (...turns: readonly MockStep[]): PayingAgent => payingAgentWith([], ...turns);

interface PayingAgent {
  readonly agent: Agent;
  readonly payments: number[];
}

/** The same with more tools. */
export function payingAgentWith(more: readonly Tool[], ...turns: readonly MockStep[]): PayingAgent {
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
  const tools = [
    pay,
    askHuman(),
    askHuman({ name: "ask_size", answer: z.object({ size: z.number() }) }),
    ...more,
  ];
  return { agent: defineAgent({ name: "cashier", llm: new MockLlmCaller([...turns]), tools }), payments };
}
