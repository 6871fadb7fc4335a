import { shownValue } from "@moora/agent-core-effects/internal";
import { valueProblem } from "../decision-value.ts";
import { InputRefused } from "./session.ts";

// Hosts without types may give anything to the methods of a session. Each of these checks throws `InputRefused` with the
// name of the argument as its path.

/** A question, as far as a decision is bound to it. */
export function checkQuestion(question: unknown): void {
  const fix = "Pass one of session.questions(), or the ApprovalRequested event.";
  if (typeof question !== "object" || question === null) {
    throw refused(
      "question",
      `must be an object with toolCallId and digest, got ${shownValue(question)}. ${fix}`,
    );
  }
  for (const name of ["toolCallId", "digest"]) {
    const value: unknown = Reflect.get(question, name);
    if (typeof value !== "string")
      throw refused(`question.${name}`, `must be a string, got ${shownValue(value)}. ${fix}`);
  }
}

/** A result of a tool call that an application hands in. */
export function checkSettlement(settlement: unknown): void {
  if (typeof settlement !== "object" || settlement === null)
    throw refused("settlement", `must be { content } or { error }, got ${shownValue(settlement)}.`);
  if ("error" in settlement) {
    if (typeof settlement.error === "string") return;
    throw refused("settlement.error", `must be a string, got ${shownValue(settlement.error)}.`);
  }
  if (!("content" in settlement))
    throw refused("settlement", "must have content, or error for a call that failed.");
  const problem = valueProblem({ path: "settlement.content", value: settlement.content });
  if (problem !== undefined) throw new InputRefused(problem);
}

export function checkFields(path: string, value: unknown): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw refused(path, `must be an object of fields, got ${shownValue(value)}.`);
}

export function checkText(path: string, value: unknown): void {
  if (typeof value !== "string") throw refused(path, `must be a string, got ${shownValue(value)}.`);
}

export function checkOptionalText(path: string, value: unknown): void {
  if (value !== undefined) checkText(path, value);
}

/** Returns the listener. */
export function checkedListener<Listener>(listener: Listener): Listener {
  if (typeof listener === "function") return listener;
  throw refused("listener", `must be a function, got ${shownValue(listener)}.`);
}

/** A sequence number, from 0. */
export function checkSeq(path: string, value: unknown): void {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return;
  throw refused(path, `must be a sequence number, an integer from 0, got ${shownValue(value)}.`);
}

/** Returns `graceMs` of the options of `close`. */
export function checkedGraceMs(options: unknown): number {
  if (options === undefined) return 0;
  if (typeof options !== "object" || options === null)
    throw refused("options", `must be { graceMs }, got ${shownValue(options)}.`);
  const graceMs: unknown = "graceMs" in options ? options.graceMs : undefined;
  if (graceMs === undefined) return 0;
  if (typeof graceMs === "number" && graceMs >= 0) return graceMs;
  throw refused("options.graceMs", `must be a number of milliseconds from 0, got ${shownValue(graceMs)}.`);
}

const refused = (path: string, message: string): InputRefused =>
  new InputRefused({ code: "wrong-shape", path, message });
