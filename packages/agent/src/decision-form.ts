import { didYouMean, isObject, shownValue } from "@moora/agent-core-effects/internal";
import type { Decision } from "./agent-event.ts";

/** The kind of each decision with its further fields. */
const shapes = [["reject"], ["approve"], ["answer"], ["outcome", "result", "reason"]];

/** Whether a value has the form of a decision: callers without types may pass any value. */
export function isDecision(value: unknown): value is Decision {
  if (value === "approve") return true;
  if (typeof value !== "object" || value === null) return false;
  const names = Object.keys(value);
  if (
    !shapes.some(
      ([kind = "", ...fields]) =>
        kind in value && names.every((name) => name === kind || fields.includes(name)),
    )
  )
    return false;
  if ("reject" in value) return typeof value.reject === "string";
  if ("outcome" in value) return isOutcome(value);
  return "approve" in value || "answer" in value;
}

interface GivenOutcome {
  readonly outcome: unknown;
  readonly result?: unknown;
  readonly reason?: unknown;
}

function isOutcome({ outcome, result, reason }: GivenOutcome): boolean {
  if (outcome === "worked") return result !== undefined;
  if (outcome === "run-again") return true;
  return (
    (outcome === "failed" || outcome === "unknown") && (reason === undefined || typeof reason === "string")
  );
}

/** The message for a value that is not a decision. */
export function invalidDecisionText(value: unknown): string {
  const names = isObject(value) ? Object.keys(value) : [];
  const unknown = names.find((name) => !shapes.flat().includes(name));
  const got = names.length === 0 ? shownValue(value) : `an object with ${names.join(", ")}`;
  return (
    'A decision must be "approve", { reject }, { approve }, { answer } or, for an unknown outcome, { outcome }, got ' +
    `${got}.${unknown === undefined ? "" : didYouMean(unknown, shapes.flat())}`
  );
}
