import type { Chat } from "@ai-sdk/react";
import { agentTool, askHuman } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import type { UIMessage } from "ai";
import { toolOf } from "./support.ts";

/** An agent whose sub-agent asks before it pays, or asks its user something. */
export function delegating(call: "pay" | "ask_human", ran: unknown[] = []) {
  const given = call === "pay" ? { cents: 5 } : { question: "How much?" };
  const cashier = agentOf([callsTools([{ name: call, arguments: given }]), answers("It is done.")], {
    name: "cashier",
    tools: [call === "pay" ? pay(ran) : askHuman()],
  });
  return agentOf([callsTools([{ name: "cashier", arguments: { task: "Pay" } }]), answers("Done.")], {
    tools: [agentTool(cashier, { name: "cashier", description: "Pays." })],
  });
}

/** The parts of the last message, as far as a test compares them. */
export const partsOf = (chat: Chat<UIMessage>): readonly object[] =>
  (chat.lastMessage?.parts ?? []).map((part) => {
    const { type, text, state, input, output, errorText, approval } = part as Record<string, unknown>;
    return JSON.parse(JSON.stringify({ type, text, state, input, output, errorText, approval })) as object;
  });

export const pay = (ran: unknown[] = []) =>
  toolOf("pay", (input) => (ran.push(input), { paid: true }), { approval: "always" });
