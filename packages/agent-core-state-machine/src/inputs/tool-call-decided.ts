import { failCall, openCallOf, recordOf, replaceCall, settleCall, toolOf } from "../control/calls.ts";
import type { OpenCall, OpenCallStatus } from "../control/control.ts";
import { continueRound } from "../control/round.ts";
import type { Edit } from "../edit.ts";
import type { ToolCallDecidedInput } from "../input.ts";
import type { ToolCallDecision, ToolCallRecord } from "../state.ts";
import { wording } from "../wording.ts";
import type { Row } from "./row.ts";

type Decision = ToolCallDecidedInput["decision"];
type About = Extract<OpenCallStatus, { type: "asking" }>["about"];

/** What a human may say to which question. An unknown outcome: run it again, it failed, or this is its result. */
const offered: Readonly<Record<About, readonly Decision["type"][]>> = {
  approval: ["approved", "rejected", "modified"],
  outcome: ["approved", "rejected", "answered"],
  answer: ["answered", "rejected"],
};

export const toolCallDecided: Row<ToolCallDecidedInput> = {
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
    continueRound(edit, input.decision.type);
  },
};

const decisionOf = ({ decision, by, reason, timestamp }: ToolCallDecidedInput): ToolCallDecision => ({
  type: decision.type,
  by,
  decidedAt: timestamp,
  ...(reason === undefined ? {} : { reason }),
});

function decide(
  edit: Edit,
  call: OpenCall,
  record: ToolCallRecord,
  decision: Decision,
  reason: string | undefined,
): void {
  switch (decision.type) {
    case "approved":
      edit.putCall(call.id, record);
      return release(edit, call);
    case "modified":
      edit.putCall(call.id, modified(record, decision));
      return edit.config.blacklistedTools.includes(record.name)
        ? failCall(edit, call.id, "blacklisted", wording.blacklisted(record.name))
        : release(edit, call);
    case "rejected":
      edit.putCall(call.id, record);
      return failCall(edit, call.id, "rejected", wording.rejected(reason));
    case "answered":
      edit.putCall(call.id, record);
      return settleCall(edit, call.id, {
        isSuccess: true,
        content: decision.content,
        receivedAt: edit.timestamp,
      });
  }
}

/** A decision is itself the approval: the call runs as it stands now. One with an unknown outcome runs anew. */
function release(edit: Edit, call: OpenCall): void {
  const again = call.status.type === "asking" && call.status.about === "outcome";
  replaceCall(edit, { ...call, attempt: call.attempt + (again ? 1 : 0), status: { type: "queued" } });
}

const modified = (
  record: ToolCallRecord,
  { parameters, digest }: Extract<Decision, { type: "modified" }>,
): ToolCallRecord => ({
  ...record,
  parameters,
  original: record.original ?? record.parameters,
  digest: digest ?? JSON.stringify([record.name, parameters]),
});

/** A question that nobody answered in time counts as rejected. */
export function expireQuestion(edit: Edit, call: OpenCall): void {
  const record = recordOf(edit, call.id);
  if (record === undefined) return;
  const isQuestion = toolOf(edit, record.name)?.asksHuman === true;
  const decision: ToolCallDecision = { type: "expired", by: "deadline", decidedAt: edit.timestamp };
  failCall(edit, call.id, "expired", isQuestion ? wording.unanswered : wording.expired, { decision });
  continueRound(edit, "expired");
}
