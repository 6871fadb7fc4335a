import type { ToolCallDecidedInput } from "@moora/agent-core-state-machine";
import type { Decision, OutcomeDecision, Question } from "./agent-event.ts";

/** JSON text of changed arguments or of an answer; text goes as it is. */
export const decidedText = (value: unknown): string =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).toWellFormed();

/** Whether a decision is one that this kind of question takes. */
export function answersQuestion({ about }: Pick<Question, "about">, decision: Decision): boolean {
  if (about === "outcome") return typeof decision === "object" && "outcome" in decision;
  if (decision === "approve" || "approve" in decision) return about === "approval";
  return "reject" in decision || (about === "answer" && "answer" in decision);
}

/** The decision that lets nothing happen: a rejection, or that the outcome is unknown. */
export const refusalOf = ({ about }: Pick<Question, "about">, reason: string): Decision =>
  about === "outcome" ? { outcome: "unknown", reason } : { reject: reason };

/** The decision as JSON keeps it: nothing that the host does with its objects later changes what was decided. */
export function fixedDecision(decision: Decision): Decision {
  try {
    return typeof decision === "object" ? JSON.parse(JSON.stringify(decision)) : decision;
  } catch {
    return decision;
  }
}

function outcomeToDecided(given: OutcomeDecision): Pick<ToolCallDecidedInput, "decision" | "reason"> {
  switch (given.outcome) {
    case "run-again":
      return { decision: { type: "run-again" } };
    case "worked":
      return { decision: { type: "worked", content: decidedText(given.result) } };
    case "failed":
    case "unknown": {
      const reason = given.reason === undefined ? {} : { reason: given.reason.toWellFormed() };
      return { decision: { type: given.outcome }, ...reason };
    }
  }
}

/** The input for a person's decision. `digestOfChange` binds changed arguments. */
export function decisionToInput(
  { toolCallId, digest }: Pick<Question, "toolCallId" | "digest">,
  decision: Decision,
  meta: {
    readonly by: string;
    readonly timestamp: number;
    readonly digestOfChange: (parameters: string) => string;
  },
): ToolCallDecidedInput {
  const { by, timestamp } = meta;
  const input = { type: "tool-call-decided", toolCallId, digest, by, timestamp } as const;
  if (decision === "approve") return { ...input, decision: { type: "approved" } };
  if ("outcome" in decision) return { ...input, ...outcomeToDecided(decision) };
  if ("reject" in decision)
    return { ...input, reason: decision.reject.toWellFormed(), decision: { type: "rejected" } };
  if ("answer" in decision)
    return { ...input, decision: { type: "answered", content: decidedText(decision.answer) } };
  const parameters = decidedText(decision.approve);
  return { ...input, decision: { type: "modified", parameters, digest: meta.digestOfChange(parameters) } };
}
