import { LlmOptionError } from "../llm-option-error.ts";

/** Throws `LlmOptionError` for a value that is not an `LlmCaller`. `place` is the function that received it. */
export function checkCaller(place: string, value: unknown): void {
  if (typeof value === "object" && value !== null && "call" in value && typeof value.call === "function")
    return;
  const got = value === null ? "null" : Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
  throw new LlmOptionError(`${place} needs an LlmCaller, such as openai(model), got ${got}.`);
}

/** Throws `LlmOptionError` for a value that is not a function. */
export function checkFunction(place: string, name: string, value: unknown): void {
  if (typeof value !== "function")
    throw new LlmOptionError(`${place} needs a function as ${name}, got a value of type ${typeof value}.`);
}
