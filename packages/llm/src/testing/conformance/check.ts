import type { LlmFailure, LlmFailureKind, LlmOutcome } from "../../outcome.ts";
import type { LlmPart } from "../../request.ts";

/** A caller does not do what every caller does. */
export class ConformanceError extends Error {
  override readonly name = "ConformanceError";
}

export function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new ConformanceError(what);
}

/** Equality of values that JSON keeps. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  const [got, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  check(got === wanted, `${what}: wanted ${short(wanted)}, got ${short(got)}`);
}

const short = (text: string | undefined): string =>
  text === undefined ? "nothing" : text.length > 600 ? `${text.slice(0, 600)}...` : text;

type Success = Extract<LlmOutcome, { ok: true }>;

export function expectSuccess(outcome: LlmOutcome): Success {
  check(outcome.ok, outcome.ok ? "" : `the call failed: ${JSON.stringify(outcome.failure)}`);
  return outcome;
}

export function expectFailure(outcome: LlmOutcome, kind: LlmFailureKind, what: string = kind): LlmFailure {
  check(!outcome.ok, `${what}: the call succeeded with ${short(JSON.stringify(outcome))}`);
  check(outcome.failure.kind === kind, `${what}: wanted ${kind}, got ${JSON.stringify(outcome.failure)}`);
  return outcome.failure;
}

/** The text of an answer, of all its parts. */
export const textOf = (outcome: Success): string =>
  outcome.turn.parts.map((part) => (part.type === "text" ? part.text : "")).join("");

type Call = Extract<LlmPart, { type: "tool-call" }>;

export const callsOf = (outcome: Success): readonly Call[] =>
  outcome.turn.parts.filter((part): part is Call => part.type === "tool-call");

/** What a call is made of, without its id. */
export const callText = (call: Call): string => `${call.name}(${call.arguments})`;
