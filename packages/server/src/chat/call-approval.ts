import type { AgentState } from "@moora/agent";
import type { PostedCall } from "./posted-message.ts";
import { valueOf, type UiChunk } from "./ui-chunk.ts";

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
  { toolCalls }: AgentState,
  { toolCallId, approval }: Pick<PostedCall, "toolCallId" | "approval">,
): readonly UiChunk[] {
  const decision = toolCalls[toolCallId]?.decision;
  const approved = decision === undefined ? undefined : isApproval(decision);
  if (decision === undefined || approved === undefined || approval === undefined) return [];
  if (approval.approved === approved) return [];
  const { by, reason = `Decided by ${by}.` } = decision;
  return [{ type: "tool-approval-response", approvalId: approval.id, approved, reason }];
}

/** A call that waits for the answer to a question of this digest. */
export function toolQuestion(
  { toolCalls }: AgentState,
  toolCallId: string,
  digest: string,
): readonly UiChunk[] {
  const call = toolCalls[toolCallId];
  if (call === undefined) return [];
  const { name: toolName, parameters, asked } = call;
  const question = asked?.reply === null ? { question: asked.question } : {};
  const input = valueOf(parameters);
  return [{ type: "tool-question", toolCallId, toolName, input, dynamic: true, digest, ...question }];
}
