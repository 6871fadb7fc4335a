import type { Handoff } from "@moora/agent-core-state-machine";
import type { Choose } from "./choose.ts";
import { drawConfigChange, drawTools } from "./draw-config.ts";
import { oneOf } from "./simulation/choices.ts";

/** The agents of a drawn team. */
const agents = ["triage", "billing", "support"];

/** Draws the name of an agent of a team. */
export const drawAgent = (choose: Choose): string => oneOf(choose, agents);

/** Draws a handoff, also one to the agent that has the conversation. */
export const drawHandoff = (choose: Choose): Handoff => ({
  to: drawAgent(choose),
  config: drawConfigChange(choose),
  tools: drawTools(choose),
  maxPerLoop: 1 + choose(3),
  ...(choose(2) === 0 ? { message: oneOf(choose, ["", "A message."]) } : {}),
});
