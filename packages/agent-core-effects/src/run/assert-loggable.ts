import { parseInput, type AgentInput } from "@moora/agent-core-state-machine";

/** Thrown for an input that logs cannot contain, because a model, a tool or a handler returned an invalid value. */
export class UnloggableInput extends Error {
  override readonly name = "NotRecordable";
}

/** Returns a validated copy of an input. Throws `UnloggableInput` for an invalid one: foreign code may return any value. */
export function assertLoggable(input: AgentInput): AgentInput {
  const parsed = parseInput(input);
  if (parsed.ok) return parsed.input;
  const { path, message } = parsed.problem;
  throw new UnloggableInput(`${path}: ${message}`);
}
