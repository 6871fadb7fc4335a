import { shownValue } from "@moora/agent-core-effects/internal";
import { valueProblem } from "../decision-value.ts";
import { InputRefused } from "./session.ts";

// Callers without types may pass any value to the methods of a session. Each of these checks throws `InputRefused` with
// the name of the argument as its path.

/** Checks the fields of a question that bind a decision to it. */
export function checkQuestion(question: unknown): void {
  const fix = "Pass one of session.questions(), or the ApprovalRequested event.";
  if (typeof question !== "object" || question === null) {
    throw refusal(
      "question",
      `must be an object with toolCallId and digest, got ${shownValue(question)}. ${fix}`,
    );
  }
  for (const name of ["toolCallId", "digest"]) {
    const value: unknown = Reflect.get(question, name);
    if (typeof value !== "string")
      throw refusal(`question.${name}`, `must be a string, got ${shownValue(value)}. ${fix}`);
  }
  const path: unknown = Reflect.get(question, "path");
  if (path !== undefined && !(Array.isArray(path) && path.every((id) => typeof id === "string")))
    throw refusal("question.path", `must be an array of strings, got ${shownValue(path)}. ${fix}`);
}

/** Checks the result of a tool call that an application passes to `settle`. */
export function checkSettlement(settlement: unknown): void {
  if (typeof settlement !== "object" || settlement === null)
    throw refusal("settlement", `must be { content } or { error }, got ${shownValue(settlement)}.`);
  if ("error" in settlement) {
    if (typeof settlement.error === "string") return;
    throw refusal("settlement.error", `must be a string, got ${shownValue(settlement.error)}.`);
  }
  if (!("content" in settlement))
    throw refusal("settlement", "must have content, or error for a call that failed.");
  const problem = valueProblem({ path: "settlement.content", value: settlement.content });
  if (problem !== undefined) throw new InputRefused(problem);
}

export function checkFields(path: string, value: unknown): void {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw refusal(path, `must be an object of fields, got ${shownValue(value)}.`);
}

export function checkText(path: string, value: unknown): void {
  if (typeof value !== "string") throw refusal(path, `must be a string, got ${shownValue(value)}.`);
}

/** Checks a text that may be left out. */
export function checkOptionalText(path: string, value: unknown): void {
  if (value !== undefined) checkText(path, value);
}

/** Checks an id that may be left out: a well-formed text of 1 to 200 characters. */
export function checkOptionalId(path: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value === "string" && value !== "" && value.length <= 200 && value.isWellFormed()) return;
  throw refusal(path, `must be a text of 1 to 200 characters, got ${shownValue(value)}.`);
}

/** Checks that a listener is a function, and returns it. */
export function checkedListener<Listener>(listener: Listener): Listener {
  if (typeof listener === "function") return listener;
  throw refusal("listener", `must be a function, got ${shownValue(listener)}.`);
}

/** Checks a sequence number, an integer from 0. */
export function checkSeq(path: string, value: unknown): void {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return;
  throw refusal(path, `must be a sequence number (an integer of at least 0), got ${shownValue(value)}.`);
}

/** Checks how much is read. */
export function checkLimit(value: unknown): void {
  if (value === undefined || (typeof value === "number" && Number.isSafeInteger(value) && value > 0)) return;
  throw refusal("limit", `must be a positive integer, got ${shownValue(value)}.`);
}

/** Checks the options of `close`, and returns `graceMs` (default: 0). */
export function checkedGraceMs(options: unknown): number {
  if (options === undefined) return 0;
  if (typeof options !== "object" || options === null)
    throw refusal("options", `must be { graceMs }, got ${shownValue(options)}.`);
  const graceMs: unknown = "graceMs" in options ? options.graceMs : undefined;
  if (graceMs === undefined) return 0;
  if (typeof graceMs === "number" && graceMs >= 0) return graceMs;
  throw refusal(
    "options.graceMs",
    `must be a non-negative number of milliseconds, got ${shownValue(graceMs)}.`,
  );
}

const refusal = (path: string, message: string): InputRefused =>
  new InputRefused({ code: "wrong-shape", path, message });
