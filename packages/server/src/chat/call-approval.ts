import type { AgentState } from "@moora/agent";
import type { UiChunk } from "./ui-chunk.ts";

type ToolCallRecord = AgentState["toolCalls"][string];

type Decision = NonNullable<ToolCallRecord["decision"]>;

/** Whether a decision lets a call run, or reports that it worked. Undefined for one that answers no approval. */
const approves: Readonly<Record<Decision["type"], boolean | undefined>> = {
  approved: true,
  modified: true,
  "run-again": true,
  worked: true,
  rejected: false,
  failed: false,
  unknown: false,
  answered: undefined,
  expired: undefined,
};

/** Whether a decision approves. Undefined for one that answers no approval. */
export const isApproval = ({ type }: Pick<Decision, "type">): boolean | undefined => approves[type];

/** The digest of the first question about a call. */
const digestOfCall = ({ digest, name, parameters }: ToolCallRecord): string =>
  digest ?? JSON.stringify([name, parameters]);

/** The question about a call that was decided, and the decision, for a client that has neither. */
export function decidedApproval(toolCallId: string, record: ToolCallRecord): readonly UiChunk[] {
  const { decision } = record;
  const approved = decision === undefined ? undefined : isApproval(decision);
  if (decision === undefined || approved === undefined) return [];
  const approvalId = digestOfCall(record);
  const { reason } = decision;
  return [
    { type: "tool-approval-request", toolCallId, approvalId },
    { type: "tool-approval-response", approvalId, approved, ...(reason === undefined ? {} : { reason }) },
  ];
}

/** What was decided about a call instead of what a client has answered; empty if the answer was the same. */
export function correctedApproval(
  { decision }: ToolCallRecord,
  given: { readonly id: string; readonly approved?: boolean | undefined } | undefined,
): readonly UiChunk[] {
  const approved = decision === undefined ? undefined : isApproval(decision);
  if (decision === undefined || approved === undefined || given === undefined) return [];
  if (given.approved === approved) return [];
  const { by, reason = `Decided by ${by}.` } = decision;
  return [{ type: "tool-approval-response", approvalId: given.id, approved, reason }];
}
