import { truncated } from "@moora/agent-core-effects/internal";
import type { AgentState, ToolCallResult } from "@moora/agent-core-state-machine";
import { openCallOf } from "@moora/agent-core-state-machine/internal";
import type { OutcomeDecision, Question } from "../agent-event.ts";
import { decidedText } from "../decision-to-input.ts";

/** The result of a tool call as an application hands it in: content as text or JSON, or why it failed. */
export type Settlement = { readonly content: unknown } | { readonly error: string };

/** The result as the model reads it, no longer than `maxLength` characters. */
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

/** The same result as an answer to the question about the call's outcome, where that is open. */
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
