import { isBlacklisted, refuseBlacklisted, runAgain } from "../control/admission.ts";
import { failAsUnknown, failCall, openCallOf, recordOf, replaceCall, settleCall } from "../control/calls.ts";
import type { OpenCall, OpenCallStatus } from "../control/control.ts";
import { advanceBatch } from "../control/tool-batch.ts";
import type { StateEdit } from "../state-edit.ts";
import type { ToolCallDecidedInput } from "../input.ts";
import type { ToolCallDecision, ToolCallRecord } from "../state.ts";
import { wording } from "../wording.ts";
import type { InputHandler } from "./input-handler.ts";

type Decision = ToolCallDecidedInput["decision"];
type About = Extract<OpenCallStatus, { type: "asking" }>["about"];

/** The decisions that answer each kind of question. */
const offered: Readonly<Record<About, readonly Decision["type"][]>> = {
  approval: ["approved", "rejected", "modified"],
  outcome: ["run-again", "worked", "failed", "unknown"],
  answer: ["answered", "rejected"],
};

export const toolCallDecided: InputHandler<ToolCallDecidedInput> = {
  whyNot(state, { toolCallId, digest, decision }) {
    const record = recordOf(state, toolCallId);
    const status = openCallOf(state.reActContext.control, toolCallId)?.status;
    if (record === undefined) return "unknown-call";
    if (status?.type !== "asking") {
      if (record.decision !== undefined) return "already-decided";
      return record.result === null ? "not-asking" : "not-open";
    }
    if (status.digest !== digest) return "digest-mismatch";
    return offered[status.about].includes(decision.type) ? undefined : "wrong-decision";
  },
  apply(edit, input) {
    const call = openCallOf(edit.reActContext.control, input.toolCallId);
    const record = recordOf(edit, input.toolCallId);
    if (call === undefined || record === undefined || call.status.type !== "asking") return;
    decide(edit, call, { ...record, decision: decisionOf(input) }, input.decision, input.reason);
    advanceBatch(edit, input.decision.type);
  },
};

const decisionOf = ({ decision, by, reason, timestamp }: ToolCallDecidedInput): ToolCallDecision => ({
  type: decision.type,
  by,
  decidedAt: timestamp,
  ...(reason === undefined ? {} : { reason }),
});

function decide(
  edit: StateEdit,
  call: OpenCall,
  record: ToolCallRecord,
  decision: Decision,
  reason: string | undefined,
): void {
  edit.putCall(call.id, decision.type === "modified" ? modified(record, decision) : record);
  switch (decision.type) {
    case "approved":
    case "modified":
      if (isBlacklisted(edit, record)) return refuseBlacklisted(edit, call, record);
      return replaceCall(edit, { ...call, status: { type: "queued" } });
    case "run-again":
      return runAgain(edit, call);
    case "rejected":
      return failCall(edit, call.id, "rejected", wording.rejected(reason));
    case "failed":
      return failCall(edit, call.id, "reported-failed", wording.reportedFailed(reason));
    case "unknown":
      return failAsUnknown(edit, call.id, wording.unknownToPerson(reason));
    case "answered":
    case "worked":
      return settleCall(edit, call.id, {
        isSuccess: true,
        content: decision.content,
        receivedAt: edit.timestamp,
      });
  }
}

/** The call with the arguments that a person gave: what was wrong with the model's own does not count anymore. */
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

/** A question that nobody answered in time: an approval counts as rejected, an outcome as unknown. */
export function expireQuestion(edit: StateEdit, call: OpenCall): void {
  if (call.status.type !== "asking") return;
  const decision: ToolCallDecision = { type: "expired", by: "deadline", decidedAt: edit.timestamp };
  const { about } = call.status;
  if (about === "outcome") failAsUnknown(edit, call.id, wording.unreported, { decision });
  else
    failCall(edit, call.id, "expired", about === "answer" ? wording.unanswered : wording.expired, {
      decision,
    });
  advanceBatch(edit, "expired");
}
