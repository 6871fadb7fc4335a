import { defineTool, type Agent } from "@moora/agent";
import * as z from "zod";

/** The agent of a later release: its tool `pay` is `transfer`, takes another argument, and converts the former one. */
export function withTransfer(agent: Agent): Agent {
  const tools = new Map(agent.parts.tools);
  const pay = tools.get("pay");
  if (pay === undefined) throw new Error("The agent has no tool pay.");
  const transfer = defineTool({
    name: "transfer",
    formerNames: ["pay"],
    description: "Transfers an amount.",
    replay: "keyed",
    input: z.object({ amount: z.number() }),
    upcast: ({ of: amount = null }) => ({ amount }),
    async execute({ amount }, context) {
      const outcome = await pay.run(JSON.stringify({ of: amount }), context);
      if (!outcome.isSuccess) throw new Error(outcome.error);
      return outcome.content;
    },
  });
  tools.delete("pay");
  tools.set("transfer", transfer);
  const definitions = [...tools].map(([name, { definition }]) => [name, definition] as const);
  return { ...agent, tools: Object.fromEntries(definitions), parts: { ...agent.parts, tools } };
}
