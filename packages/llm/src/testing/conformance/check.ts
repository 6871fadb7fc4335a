import type { LlmFailure, LlmFailureKind, LlmOutcome } from "../../outcome.ts";
import type { LlmPart } from "../../request.ts";

/** A caller violates the contract of the port. */
export class ConformanceError extends Error {
  override readonly name = "ConformanceError";
}

/** Throws a `ConformanceError` with this message if a condition does not hold. */
export function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new ConformanceError(what);
}

/** Throws a `ConformanceError` if two values are different as JSON. `what` names the value in the message. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  const [got, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  check(got === wanted, `${what} must be ${short(wanted)}, got ${short(got)}`);
}

const short = (text: string | undefined): string =>
  text === undefined ? "nothing" : text.length > 600 ? `${text.slice(0, 600)}...` : text;

type Success = Extract<LlmOutcome, { ok: true }>;

/** Throws a `ConformanceError` if a call failed. */
export function expectSuccess(outcome: LlmOutcome): Success {
  check(outcome.ok, outcome.ok ? "" : `The call must succeed, got ${JSON.stringify(outcome.failure)}`);
  return outcome;
}

/** Throws a `ConformanceError` if a call did not fail with this kind. Returns the failure. */
export function expectFailure(outcome: LlmOutcome, kind: LlmFailureKind, what: string = kind): LlmFailure {
  check(!outcome.ok, `The call must fail (${what}), got ${short(JSON.stringify(outcome))}`);
  check(
    outcome.failure.kind === kind,
    `The call must fail as ${kind} (${what}), got ${JSON.stringify(outcome.failure)}`,
  );
  return outcome.failure;
}

/** The text of all parts of an answer. */
export const textOf = (outcome: Success): string =>
  outcome.turn.parts.map((part) => (part.type === "text" ? part.text : "")).join("");

/** A tool call of an answer. */
export type Call = Extract<LlmPart, { type: "tool-call" }>;

/** The tool calls of an answer. */
export const callsOf = (outcome: Success): readonly Call[] =>
  outcome.turn.parts.filter((part): part is Call => part.type === "tool-call");

/** A tool call as text, without its id. */
export const callText = (call: Call): string => `${call.name}(${call.arguments})`;
