import { inputTraits, parseInput, type AgentInput } from "@moora/agent-core-state-machine";
import { InputRefused } from "./session.ts";

/** Parses an input from outside. Throws `InputRefused` for an invalid one. */
export function parseOrRefuse(value: unknown): AgentInput {
  const result = parseInput(value);
  if (!result.ok) throw new InputRefused(result.problem);
  return result.input;
}

/** Throws `InputRefused`, code `not-allowed`, for an input that says what begins with it: only the runner of a session starts work. */
export function checkStarts({ starts }: AgentInput): void {
  if (starts === undefined) return;
  const message = "Only the runner of the session may say what begins with an input.";
  throw new InputRefused({ code: "not-allowed", path: "starts", message });
}

/**
 * Parses an input that a caller posts to a host. Throws `InputRefused` for an invalid one, and, code `not-allowed`, for one that only the
 * host may dispatch: `dispatchers` names the parts of it that do.
 */
export function parsePosted(value: unknown, dispatchers: string): AgentInput {
  const input = parseOrRefuse(value);
  checkStarts(input);
  const { type } = input;
  if (inputTraits[type].access !== "owner") return input;
  const message = `Only the ${dispatchers} of the session may dispatch ${type}.`;
  throw new InputRefused({ code: "not-allowed", path: "type", message });
}
