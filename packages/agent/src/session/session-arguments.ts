import { isObject, optionsProblem, shownValue, type OptionForms } from "@moora/agent-core-effects/internal";
import { valueProblem } from "../decision-value.ts";
import { InputRefused } from "./session.ts";

// Callers without types may pass any value to the methods of a session. Each of these checks throws `InputRefused` with
// the path of the argument, or of the field of it.

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

/** No subject for the sentence of a problem: `InputRefused` has the path in front of it. */
export const noPlace = (): string => "";

/** Checks the argument of a function that is an object of options. */
export function checkArgument<Options>(
  path: string,
  caller: string,
  value: unknown,
  forms: OptionForms<Options>,
): asserts value is Options {
  if (!isObject(value)) {
    const fields = Object.keys(forms).join(", ");
    throw refusal(path, `must be an object { ${fields} }, got ${shownValue(value)}.`);
  }
  const problem = optionsProblem(caller, value, forms, { placeOf: noPlace });
  if (problem !== undefined) throw refusal(`${path}.${problem.path}`, problem.message);
}

const settlementForms: OptionForms<{ readonly content: unknown; readonly error: unknown }> = {
  content: "any",
  error: "any",
};

/** Checks the result of a tool call that an application passes to `settle`. */
export function checkSettlement(settlement: unknown): void {
  if (typeof settlement !== "object" || settlement === null)
    throw refusal("settlement", `must be { content } or { error }, got ${shownValue(settlement)}.`);
  const { length } = ["content", "error"].filter((name) => name in settlement);
  if (length === 0) throw refusal("settlement", "must have content, or error for a call that failed.");
  if (length === 2) throw refusal("settlement", "must be { content } or { error }, got both.");
  checkArgument("settlement", "settle", settlement, settlementForms);
  if ("error" in settlement) {
    if (typeof settlement.error === "string") return;
    throw refusal("settlement.error", `must be a string, got ${shownValue(settlement.error)}.`);
  }
  const value: unknown = Reflect.get(settlement, "content");
  const problem = valueProblem({ path: "settlement.content", value });
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

const closeForms: OptionForms<{ readonly graceMs?: number }> = {
  graceMs: {
    expectation: "a non-negative number of milliseconds",
    fits: (value) => typeof value === "number" && value >= 0,
  },
};

/** Checks the options of `close`, and returns `graceMs` (default: 0). */
export function checkedGraceMs(options: unknown = {}): number {
  checkArgument("options", "close", options, closeForms);
  return options.graceMs ?? 0;
}

const refusal = (path: string, message: string): InputRefused =>
  new InputRefused({ code: "wrong-shape", path, message });
