import { defaultRunLimits } from "@moora/agent-core-effects";
import { required, truncated } from "@moora/agent-core-effects/internal";
import type { ToolCallDecidedInput } from "@moora/agent-core-state-machine";
import type { Decision, OutcomeDecision, Question } from "./agent-event.ts";
import type { OptionForms } from "./check-options.ts";
import { invalidDecisionText, isDecision } from "./decision-form.ts";
import { decisionValue, valueProblem, withCopiedValue } from "./decision-value.ts";
import { InputRefused } from "./session/session.ts";
import { checkArgument, checkQuestion } from "./session/session-arguments.ts";

/** The text of changed arguments, an answer or a result: a string unchanged, any other value as JSON. */
export const decidedText = (value: unknown): string =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).toWellFormed();

/** Whether a decision is of a kind that the question accepts. */
export function answersQuestion({ about }: Pick<Question, "about">, decision: Decision): boolean {
  if (about === "outcome") return typeof decision === "object" && "outcome" in decision;
  if (decision === "approve" || "approve" in decision) return about === "approval";
  return "reject" in decision || (about === "answer" && "answer" in decision);
}

/** The decision that refuses a question: a rejection, or `unknown` for a question about an outcome. */
export const refusalOf = ({ about }: Pick<Question, "about">, reason: string): Decision =>
  about === "outcome" ? { outcome: "unknown", reason } : { reject: reason };

/**
 * A copy of the decision, so that later changes of the caller's objects have no effect. A decision that
 * `decisionProblem` refuses for its form or its value is returned uncopied.
 */
export const fixedDecision = (decision: Decision): Decision =>
  decision === "approve" || !isDecision(decision) ? decision : withCopiedValue(decision);

function outcomeToDecided(
  given: OutcomeDecision,
  maxResultLength: number,
): Pick<ToolCallDecidedInput, "decision" | "reason"> {
  switch (given.outcome) {
    case "run-again":
      return { decision: { type: "run-again" } };
    case "worked":
      return { decision: { type: "worked", content: truncated(decidedText(given.result), maxResultLength) } };
    case "failed":
    case "unknown": {
      const reason = given.reason === undefined ? {} : { reason: given.reason.toWellFormed() };
      return { decision: { type: given.outcome }, ...reason };
    }
  }
}

/**
 * Creates the input for a decision that is made by `by`, at `timestamp` in milliseconds since 1970. An answer and a reported result
 * become the result of the call, so they are cut to `maxResultLength` characters like any other result; default: 100,000.
 * `digestOfChange` returns the digest of changed arguments, for hosts whose digests cover the session; default: the name of the
 * tool with the arguments. Throws `InputRefused` for an argument of the wrong form, and for a value that JSON does not keep exactly;
 * `decisionProblem` checks the value against the tool.
 */
export function decisionToInput(
  question: Pick<Question, "toolCallId" | "digest">,
  decision: Decision,
  meta: {
    readonly by: string;
    readonly timestamp: number;
    readonly digestOfChange?: (parameters: string) => string;
    readonly maxResultLength?: number;
  },
): ToolCallDecidedInput {
  checkQuestion(question);
  if (!isDecision(decision)) throw refused("decision", invalidDecisionText(decision), "invalid-decision");
  const given = decisionValue(decision);
  const problem = given === undefined ? undefined : valueProblem(given);
  if (problem !== undefined) throw new InputRefused(problem);
  checkArgument("meta", "decisionToInput", meta, metaForms);
  const { toolCallId, digest } = question;
  const { by, timestamp, digestOfChange, maxResultLength = defaultRunLimits.maxResultLength } = meta;
  const input = { type: "tool-call-decided", toolCallId, digest, by, timestamp } as const;
  if (decision === "approve") return { ...input, decision: { type: "approved" } };
  if ("outcome" in decision) return { ...input, ...outcomeToDecided(decision, maxResultLength) };
  if ("reject" in decision)
    return { ...input, reason: decision.reject.toWellFormed(), decision: { type: "rejected" } };
  if ("answer" in decision) {
    const content = truncated(decidedText(decision.answer), maxResultLength);
    return { ...input, decision: { type: "answered", content } };
  }
  const parameters = decidedText(decision.approve);
  const changed = digestOfChange === undefined ? {} : { digest: digestOfChange(parameters) };
  return { ...input, decision: { type: "modified", parameters, ...changed } };
}

const refused = (path: string, message: string, code = "wrong-shape"): InputRefused =>
  new InputRefused({ code, path, message });

const metaForms: OptionForms<Parameters<typeof decisionToInput>[2]> = {
  by: required("string"),
  timestamp: required("number"),
  digestOfChange: "function",
  maxResultLength: "number",
};
