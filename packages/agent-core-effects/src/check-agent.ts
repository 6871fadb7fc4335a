import { isObject, shownValue } from "@moora/llm/internal";
import { refuse } from "./errors/build-error.ts";

/**
 * Throws `BuildError` for a value that `defineAgent` did not return: callers without types may pass any value. `fields` are
 * those that `caller` needs.
 */
export function checkAgent(
  caller: string,
  agent: unknown,
  fields: readonly string[] = ["parts", "config"],
): void {
  if (!isObject(agent) || !fields.every((field) => isObject(agent[field])))
    refuse(`${caller} needs an agent, got ${shownValue(agent)}. Define it with defineAgent({ llm, ... }).`);
}
