import { parseInput, type AgentInput } from "@moora/agent-core-state-machine";
import { InputRefused } from "./session.ts";

/** An input from outside. Throws `InputRefused` for what is none. */
export function parsed(value: unknown): AgentInput {
  const result = parseInput(value);
  if (!result.ok) throw new InputRefused(result.problem);
  return result.input;
}
