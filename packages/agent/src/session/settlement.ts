import { truncated } from "@moora/agent-core-effects/internal";
import type { AgentState, ToolCallResult } from "@moora/agent-core-state-machine";
import { openCallOf } from "@moora/agent-core-state-machine/internal";
import type { OutcomeDecision, Question } from "../agent-event.ts";
import { decidedText } from "../decision-to-input.ts";

/** The result of a tool call that an application passes to `settle`: its content as text or JSON, or an error text. */
export type Settlement = { readonly content: unknown } | { readonly error: string };

/** The result as the model reads it, truncated to `maxLength` characters. */
export function settlementToResult(
  settlement: Settlement,
  maxLength: number,
  receivedAt: number,
): ToolCallResult {
  if ("error" in settlement) {
    const error = truncated(settlement.error.toWellFormed(), maxLength);
    return { isSuccess: false, error, receivedAt, code: "tool-error" };
  }
  return { isSuccess: true, content: truncated(decidedText(settlement.content), maxLength), receivedAt };
}

/** The result as a decision on the open question about the call's outcome; undefined if that question is not open. */
export function resultToDecision(
  { reActContext: { control } }: AgentState,
  toolCallId: string,
  result: ToolCallResult,
):
  | { readonly question: Pick<Question, "toolCallId" | "digest">; readonly decision: OutcomeDecision }
  | undefined {
  const status = openCallOf(control, toolCallId)?.status;
  if (status?.type !== "asking" || status.about !== "outcome") return undefined;
  const decision: OutcomeDecision = result.isSuccess
    ? { outcome: "worked", result: result.content }
    : { outcome: "failed", reason: result.error };
  return { question: { toolCallId, digest: status.digest }, decision };
}
