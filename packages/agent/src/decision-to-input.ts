import type { ToolCallDecidedInput } from "@moora/agent-core-state-machine";
import type { Decision, Question } from "./agent-event.ts";

/** JSON text of changed arguments or of an answer; text goes as it is. */
export const decidedText = (value: unknown): string =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).toWellFormed();

/** The decision as JSON keeps it: nothing that the host does with its objects later changes what was decided. */
export function fixedDecision(decision: Decision): Decision {
  try {
    return typeof decision === "object" ? JSON.parse(JSON.stringify(decision)) : decision;
  } catch {
    return decision;
  }
}

/** The input for a human's word. `digestOfChange` binds changed arguments. */
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
  if ("reject" in decision)
    return { ...input, reason: decision.reject.toWellFormed(), decision: { type: "rejected" } };
  if ("answer" in decision)
    return { ...input, decision: { type: "answered", content: decidedText(decision.answer) } };
  const parameters = decidedText(decision.approve);
  return { ...input, decision: { type: "modified", parameters, digest: meta.digestOfChange(parameters) } };
}
