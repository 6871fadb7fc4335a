import type { AgentState } from "@moora/agent";
import { questionsAt } from "@moora/agent/internal";
import type { AskingCall } from "./loop-end.ts";
import { questionFields } from "./question-text.ts";
import type { PostedCall } from "./posted-message.ts";
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

/** What a part of a message shows of the decision about its call. */
interface ShownApproval {
  readonly approved?: boolean | undefined;
  readonly reason?: string | undefined;
}

/**
 * What the part of a call shows of its decision: that it was approved, or that it was rejected, and why. The reason of a decision of
 * another user without one is who has decided. Empty for any other call, such as one with an expired question or an unknown outcome.
 */
function approvalOf({ decision, result }: ToolCallRecord, viewer: string): ShownApproval {
  if (decision === undefined) return {};
  const isRejected = result?.isSuccess === false && result.code === "rejected";
  const approved = isRejected ? false : approves[decision.type];
  if (approved === undefined || (!approved && !isRejected)) return {};
  const { by, reason = by === viewer ? undefined : `Decided by ${by}.` } = decision;
  return { approved, reason };
}

/** The digest of the first question about a call. */
const digestOfCall = ({ digest, name, parameters }: ToolCallRecord): string =>
  digest ?? JSON.stringify([name, parameters]);

/**
 * The approvals of the calls of one message. Writes them as `approvalOf` has them, whatever the client shows, so that a page has the same
 * parts after a reload.
 */
export class CallApprovals {
  readonly #viewer: string;
  readonly #write: (chunk: UiChunk) => void;
  readonly #shown = new Map<string, ShownApproval & { readonly id: string }>();

  constructor(viewer: string, write: (chunk: UiChunk) => void) {
    this.#viewer = viewer;
    this.#write = write;
  }

  /** Takes what a client has posted of a call. */
  posted({ toolCallId, approval }: PostedCall): void {
    if (approval !== undefined) this.#shown.set(toolCallId, approval);
  }

  /** Takes back what the client shows of a call: its input is written again, and its approval with the digest of that. */
  forget(toolCallId: string): void {
    this.#shown.delete(toolCallId);
  }

  /** Writes an open question. */
  ask(toolCallId: string, id: string): void {
    this.#shown.set(toolCallId, { id });
    this.#write({ type: "tool-approval-request", toolCallId, approvalId: id });
  }

  /** Writes what was decided about a call without an open question, before its result. */
  update(toolCallId: string, record: ToolCallRecord): void {
    const { approved, reason } = approvalOf(record, this.#viewer);
    const shown = this.#shown.get(toolCallId);
    if (shown?.approved === approved && shown?.reason === reason) return;
    // Its answer was not taken, and the call may still ask.
    if (approved === undefined && record.result === null) return;
    const { id = digestOfCall(record) } = shown ?? {};
    // An approval is taken back, and so is a reason, only by the question.
    const isTakenBack = approved === undefined || (reason === undefined && shown?.reason !== undefined);
    if (shown === undefined || isTakenBack) this.ask(toolCallId, id);
    if (approved === undefined) return;
    this.#shown.set(toolCallId, { id, approved, reason });
    const why = reason === undefined ? {} : { reason };
    this.#write({ type: "tool-approval-response", approvalId: id, approved, ...why });
  }
}

/** A call that waits for the answer to a question. */
export function toolQuestion(state: AgentState, { digest }: AskingCall): readonly UiChunk[] {
  const asked = questionsAt(state).find((question) => question.digest === digest);
  if (asked === undefined) return [];
  const { toolCallId, name: toolName, parameters: input } = asked;
  return [{ type: "tool-question", toolCallId, toolName, input, digest, ...questionFields(asked) }];
}
