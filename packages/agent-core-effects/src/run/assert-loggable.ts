import { parseInput, type AgentInput } from "@moora/agent-core-state-machine";

/** Thrown for an input that logs cannot contain, because a model, a tool or a handler returned an invalid value. */
export class UnloggableInput extends Error {
  override readonly name = "NotRecordable";
}

/** Returns a validated copy of an input. Throws `UnloggableInput` for an invalid one: foreign code may return any value. */
export function assertLoggable<Input extends AgentInput>(input: Input): Input {
  const parsed = parseInput(input);
  // The copy has the type of the input: its schema is chosen by that.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  if (parsed.ok) return parsed.input as Input;
  const { path, message } = parsed.problem;
  throw new UnloggableInput(`${path}: ${message}`);
}
