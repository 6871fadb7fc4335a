/**
 * A project that depends on `@moora/agent` alone and writes declarations: the types of everything that it exports must be
 * nameable from there. It is compiled against the packs, with pnpm's strict folders.
 */
import {
  agentTool,
  agentTransition,
  askHuman,
  decisionProblem,
  defineAgent,
  defineTool,
  diffSessions,
  effectsAt,
  exportSession,
  forkSession,
  initialStateOf,
  llmRequestAt,
  memoryAt,
  openSession,
  performEffect,
  readHeader,
  readSession,
  rerunSession,
  runTask,
  startSession,
  stateAt,
  ToolRegistry,
  toolReply,
  traceOf,
  userMessage,
  verifySession,
} from "@moora/agent";
import * as z from "zod";

export const weather = defineTool({
  name: "weather",
  description: "The weather in a city now.",
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, celsius: 3 }),
});
export const registry = new ToolRegistry();
export const reply = toolReply({ content: "text" });

export const agent = defineAgent({
  llm: { name: "none", call: () => Promise.reject(new Error("There is no model.")) },
  tools: [weather, askHuman()],
  answer: z.object({ title: z.string() }),
});
export const { config, tools, parts, runLimits } = agent;
export const { approval, budget, graph, models, settings } = config;
export const { llm, predicates, states } = parts;
export const nested = agentTool(agent, { name: "nested", description: "Asks another agent." });

export const state = initialStateOf(agent);
export const { messages, toolCalls, transcript, reActContext } = state;
export const { control, usage } = reActContext;
export const effects = effectsAt(state);
export const request = llmRequestAt(state);
export const memory = memoryAt(state);
export const message = userMessage("hi", { messageId: "m", timestamp: 1 });
export const next = agentTransition(message)(state);

export const session = startSession(agent);
export async function useSession(): Promise<string> {
  await using disposed = startSession(agent);
  return disposed.id;
}
export const run = session.ask("hi");
export const questions = session.questions();
export const view = session.current();
export const trace = session.trace();
export const emptyTrace = traceOf([]);

export const functions = {
  decisionProblem,
  diffSessions,
  exportSession,
  forkSession,
  openSession,
  performEffect,
  readHeader,
  readSession,
  rerunSession,
  runTask,
  stateAt,
  verifySession,
};
