import { parseInput, type AgentInput } from "@moora/agent-core-state-machine";
import { InputRefused } from "./session.ts";

/** Parses an input from outside. Throws `InputRefused` for an invalid one. */
export function parseOrRefuse(value: unknown): AgentInput {
  const result = parseInput(value);
  if (!result.ok) throw new InputRefused(result.problem);
  return result.input;
}
