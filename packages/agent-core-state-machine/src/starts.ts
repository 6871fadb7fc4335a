import type { AgentInput, IntentInput, Start } from "./input.ts";
import { inputTraits } from "./input-traits.ts";

/** Whether an input is an intent. */
export const isIntent = (input: AgentInput): input is IntentInput =>
  Object.hasOwn(inputTraits, input.type) && inputTraits[input.type].role === "intent";

/** What an input says, one by one: the input without what begins with it, then the intents of that. */
export function inputsIn(input: AgentInput): readonly AgentInput[] {
  if (input.starts === undefined) return [input];
  const { timestamp } = input;
  return [factOf(input), ...input.starts.map((start) => ({ ...start, timestamp }))];
}

/** An input without what begins with it. */
export function factOf<Input extends AgentInput>(input: Input): Input {
  if (input.starts === undefined) return input;
  const { starts: _, ...fact } = input;
  // Without an optional field it has the same type, which a generic type does not show.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return fact as Input;
}

/** An intent as what begins with another input, whose time it has. */
export function intentToStart(intent: IntentInput): Start {
  const { timestamp: _, ...start } = intent;
  return start;
}
