import { parseInput, type AgentInput } from "@moora/agent-core-state-machine";

/** Thrown for an input that no log could keep, made of what a model, a tool or a handler of others gave. */
export class UnloggableInput extends Error {
  override readonly name = "NotRecordable";
}

/** The input as a log keeps it: copied, and of the right form. What comes from code of others may be anything. */
export function assertLoggable(input: AgentInput): AgentInput {
  const parsed = parseInput(input);
  if (parsed.ok) return parsed.input;
  const { path, message } = parsed.problem;
  throw new UnloggableInput(`${path}: ${message}`);
}
