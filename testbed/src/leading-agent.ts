import { agentTool, defineAgent, defineTool, type Agent, type Tool } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import * as z from "zod";

const llm = new MockLlmCaller(() => answers("The simulation answers for its models."));

const work = (name: string, approval: "always" | "never"): Tool =>
  defineTool({
    name,
    approval,
    description: "Works.",
    replay: "keyed",
    input: z.object({ n: z.number() }),
    execute: () => "The simulation answers for its tools.",
  });

const log = memoryLog();

const worker = defineAgent({ name: "worker", llm, tools: [work("dig", "never"), work("sign", "always")] });
const delegate = (name: string): Tool =>
  agentTool(worker, { name, description: "Digs, with a worker.", log });
const lead = defineAgent({ name: "lead", llm, tools: [delegate("worker"), work("plan", "never")] });

/** An agent with sub-agents at one and two levels. */
export const leadingAgent: Agent = defineAgent({
  name: "leading",
  llm,
  tools: [
    delegate("helper"),
    agentTool(lead, { name: "lead", description: "Leads a worker.", log }),
    work("look", "never"),
  ],
});
