import { inputTraits, parseInput, type AgentInput } from "@moora/agent-core-state-machine";
import { InputRefused } from "./session.ts";

/** Parses an input from outside. Throws `InputRefused` for an invalid one. */
export function parseOrRefuse(value: unknown): AgentInput {
  const result = parseInput(value);
  if (!result.ok) throw new InputRefused(result.problem);
  return result.input;
}

/**
 * Parses an input that a caller posts to a host. Throws `InputRefused` for an invalid one, and, code `not-allowed`, for one that only the
 * host may dispatch: `dispatchers` names the parts of it that do.
 */
export function parsePosted(value: unknown, dispatchers: string): AgentInput {
  const input = parseOrRefuse(value);
  const { type } = input;
  if (inputTraits[type].access !== "owner") return input;
  const message = `Only the ${dispatchers} of the session may dispatch ${type}.`;
  throw new InputRefused({ code: "not-allowed", path: "type", message });
}
