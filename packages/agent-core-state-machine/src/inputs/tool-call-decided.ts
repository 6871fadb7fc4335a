import { isBlacklisted, refuseBlacklisted, runAgain } from "../control/admission.ts";
import { recordOf } from "../collections/state-lists.ts";
import { openCallOf } from "../collections/open-call-list.ts";
import { failAsUnknown, failCall, settleCall, toolQuestionOf, type FailedCall } from "../control/calls.ts";
import type { AskingStatus, OpenCall } from "../control/control.ts";
import { advanceBatch } from "../control/tool-batch.ts";
import type { StateEdit } from "../state-edit.ts";
import type { ToolCallDecidedInput } from "../input.ts";
import { closedByFork, noDecision, reasonWithoutPerson } from "../no-reviewer.ts";
import type { ToolCallDecision, ToolCallRecord, ToolQuestionRecord } from "../state.ts";
import type { Sentence } from "../wording.ts";
import type { IgnoredReason, InputHandler } from "./input-handler.ts";

type Decision = ToolCallDecidedInput["decision"];

/** The valid decisions for each kind of question. */
const offered: Readonly<Record<AskingStatus["about"], readonly Decision["type"][]>> = {
  approval: ["approved", "rejected", "modified"],
  outcome: ["run-again", "worked", "failed", "unknown"],
  answer: ["answered", "rejected"],
};

export const toolCallDecided: InputHandler<ToolCallDecidedInput> = (state, input) => {
  const { toolCallId, digest, decision } = input;
  const record = recordOf(state, toolCallId);
  const call = openCallOf(state.reActContext.control, toolCallId);
  if (record === undefined) return "unknown-call";
  if (call?.status.type !== "asking") return reasonWithoutQuestion(record);
  if (call.status.digest !== digest) return "digest-mismatch";
  if (!offered[call.status.about].includes(decision.type)) return "wrong-decision";
  return (edit) => {
    if (toolQuestionOf(edit, call) === undefined)
      decide(edit, call, { ...record, decision: decisionOf(input) }, input);
    else replyToTool(edit, call, replyOf(input));
    advanceBatch(edit, decision.type);
  };
};

/** The reply to the question of a tool. */
const replyOf = ({ decision, reason, by }: ToolCallDecidedInput): ToolReply =>
  decision.type === "answered"
    ? { type: "answered", content: decision.content, by }
    : { type: "refused", reason: reason ?? "", by };

type ToolReply = NonNullable<ToolQuestionRecord["reply"]>;

/** Records the reply to the question of a tool, and runs the call again with it. */
function replyToTool(edit: StateEdit, call: OpenCall, reply: ToolReply): void {
  const record = recordOf(edit, call.id);
  if (record?.asked === undefined) return;
  edit.putCall(call.id, { ...record, asked: { ...record.asked, reply } });
  runAgain(edit, { ...call, asked: (call.asked ?? 0) + 1 });
}

function reasonWithoutQuestion({ asked, decision, result }: ToolCallRecord): IgnoredReason {
  if (decision !== undefined || asked?.reply != null) return "already-decided";
  return result === null ? "not-asking" : "not-open";
}

const decisionOf = ({ decision, by, reason, timestamp }: ToolCallDecidedInput): ToolCallDecision => ({
  type: decision.type,
  by,
  decidedAt: timestamp,
  ...(reason === undefined ? {} : { reason }),
});

function decide(edit: StateEdit, call: OpenCall, record: ToolCallRecord, input: ToolCallDecidedInput): void {
  const { decision, reason } = input;
  edit.putCall(call.id, decision.type === "modified" ? modified(record, decision) : record);
  switch (decision.type) {
    case "approved":
    case "modified":
      if (isBlacklisted(edit, record)) return refuseBlacklisted(edit, call, record);
      return edit.putOpenCall({ ...madeBy(decision, call), status: { type: "queued" } });
    case "run-again":
      return runAgain(edit, call);
    case "rejected":
      return failCall(edit, call.id, rejectionOf(input));
    case "failed":
      return failCall(edit, call.id, { code: "reported-failed", says: ["reportedFailed"], error: reason });
    case "unknown":
      return failAsUnknown(edit, call.id, {
        ...(reasonWithoutPerson(input) === undefined ? { reason: ["unknownToPerson"] } : {}),
        error: reason,
      });
    case "answered":
    case "worked":
      return settleCall(edit, call.id, {
        isSuccess: true,
        content: decision.content,
        receivedAt: edit.timestamp,
      });
  }
}

/** The call after a decision: the arguments of a reviewer are made for the tool as it is. */
function madeBy({ type }: Decision, call: OpenCall): OpenCall {
  const { madeFor: _, ...ofReviewer } = call;
  return type === "modified" ? ofReviewer : call;
}

/** The code of a rejected call: `not-run` after a fork, `no-decision` if the host gave no valid decision, otherwise `rejected`. */
function rejectionCode(input: ToolCallDecidedInput): "not-run" | "no-decision" | "rejected" {
  const reason = reasonWithoutPerson(input);
  if (reason === closedByFork.reason) return "not-run";
  return reason === noDecision.reason ? "no-decision" : "rejected";
}

/** A rejection, or what takes its place where no person has decided. */
function rejectionOf(input: ToolCallDecidedInput): FailedCall {
  const reason = reasonWithoutPerson(input);
  return {
    code: rejectionCode(input),
    says: [reason === undefined ? "rejected" : "notRun"],
    error: input.reason,
  };
}

/** The record with the arguments of the reviewer, and without the problem of the original ones. */
function modified(
  given: ToolCallRecord,
  { parameters, digest }: Extract<Decision, { type: "modified" }>,
): ToolCallRecord {
  const { problem: _, ...record } = given;
  return {
    ...record,
    parameters,
    original: record.original ?? record.parameters,
    digest: digest ?? JSON.stringify([record.name, parameters]),
  };
}

/** Expires a question: an approval counts as rejected, an outcome as unknown. */
export function expireQuestion(edit: StateEdit, call: OpenCall, { about }: AskingStatus): void {
  const decision: ToolCallDecision = { type: "expired", by: "deadline", decidedAt: edit.timestamp };
  if (toolQuestionOf(edit, call) !== undefined)
    replyToTool(edit, call, { type: "refused", reason: "", by: "deadline" });
  else if (about === "outcome") failAsUnknown(edit, call.id, { reason: ["unreported"] }, { decision });
  else {
    const says: Sentence = [about === "answer" ? "unanswered" : "expired"];
    failCall(edit, call.id, { code: "expired", says }, { decision });
  }
  advanceBatch(edit, "expired");
}
