import { recordOf } from "../collections/state-lists.ts";
import { needsHuman } from "../control/approval-rule.ts";
import { callIdsOf, failCall, lastTurn, unansweredIds } from "../control/calls.ts";
import { isBlacklisted } from "../control/admission.ts";
import { keepRung } from "../control/ladder.ts";
import { move } from "../control/move.ts";
import { completeMessage, streamedMessage, type TurnContent } from "../control/streamed-message.ts";
import type { StateEdit } from "../state-edit.ts";
import type { ReActObservedInput } from "../input.ts";
import { isReservedId } from "../keys.ts";
import type { AgentState, TurnPart } from "../state.ts";
import { callIdsIn, filesIn, textIn } from "../turn-parts.ts";
import { ignoredReasonOfMessage, openPlan } from "./llm-message.ts";
import type { IgnoredReason, InputHandler } from "./input-handler.ts";

/** The number of consecutive turns, cut off before their calls were complete, after which the loop ends. */
const maxTruncatedTurns = 3;

export const reActObserved: InputHandler<ReActObservedInput> = (state, input) => {
  const plan = openPlan(state, input.key);
  if (typeof plan === "string") return plan;
  const reason = ignoredReasonOfMessage(state, plan, input.messageId) ?? ignoredReasonOfCalls(state, input);
  return reason ?? ((edit) => observe(edit, input));
};

function observe(edit: StateEdit, input: ReActObservedInput): void {
  edit.set({ calledLlmAt: input.calledLlmAt });
  edit.addUsage(input.usage);
  edit.setContext({ confidence: input.confidence ?? null });
  keepRung(edit, input.turn?.origin ?? "");
  if (confidenceTooLow(edit, input)) return dropTurn(edit, input);
  recordTurn(edit, input);
  if (input.observation.type === "complete-re-act") complete(edit, input.observation);
  else continueLoop(edit, input.finish?.unified === "length");
}

/** Why the calls of a turn do not apply: each needs a new id, and the turn must contain exactly these calls. */
function ignoredReasonOfCalls(
  state: AgentState,
  { observation, turn }: ReActObservedInput,
): IgnoredReason | undefined {
  const toolCalls = observation.type === "continue-re-act" ? observation.toolCalls : {};
  const ids = Object.keys(toolCalls);
  if (ids.some((id) => recordOf(state, id) !== undefined)) return "duplicate-id";
  if (ids.some(isReservedId)) return "reserved-id";
  if (turn === undefined) return undefined;
  const named = callIdsIn(turn.parts);
  const same =
    named.length === ids.length &&
    new Set(named).size === named.length &&
    named.every((id) => Object.hasOwn(toolCalls, id));
  return same ? undefined : "turn-mismatch";
}

function confidenceTooLow({ config, reActContext }: StateEdit, { confidence }: ReActObservedInput): boolean {
  return (
    confidence !== undefined &&
    confidence < config.limits.minConfidence &&
    reActContext.retryCount < config.retries.maxAnswerRetries
  );
}

/** Drops a turn. Its text and its files stay in the messages for people, and a note informs the model. */
function dropTurn(edit: StateEdit, input: ReActObservedInput): void {
  completeMessage(edit, input.messageId ?? null, contentOf(edit, input), "dropped");
  const { confidence, retryCount } = edit.reActContext;
  edit.setContext({ retryCount: retryCount + 1 });
  edit.addNote(["lowConfidence", confidence ?? 0, edit.config.limits.minConfidence]);
  move<"Planning">(edit, { event: "LowConfidence" });
}

const contentOf = (edit: StateEdit, { turn }: ReActObservedInput): TurnContent =>
  turn === undefined
    ? { text: streamedMessage(edit)?.message.content ?? "", files: [] }
    : { text: textIn(turn.parts), files: filesIn(turn.parts) };

function recordTurn(edit: StateEdit, input: ReActObservedInput): void {
  const { observation, turn } = input;
  const content = contentOf(edit, input);
  const cutAnswer = observation.type === "complete-re-act" && input.finish?.unified === "length";
  const messageId = completeMessage(edit, input.messageId ?? null, content, cutAnswer ? "cut" : undefined);
  const { loop, step } = edit.reActContext;
  const parts = turn?.parts ?? partsWithoutTurn(content.text, observation);
  const raw = turn?.raw === undefined ? {} : { raw: turn.raw };
  edit.addEntry({ type: "turn", loop, step, messageId, origin: turn?.origin ?? "", parts, ...raw });
  if (observation.type === "continue-re-act") recordCalls(edit, observation.toolCalls, parts);
}

/** The parts for an observation without a turn: the text of its message, then its calls in the order of their ids. */
function partsWithoutTurn(text: string, observation: ReActObservedInput["observation"]): readonly TurnPart[] {
  const calls = observation.type === "continue-re-act" ? Object.keys(observation.toolCalls) : [];
  const spoken: TurnPart[] = text === "" ? [] : [{ type: "text", text }];
  return [...spoken, ...calls.map((toolCallId): TurnPart => ({ type: "call", toolCallId }))];
}

type ObservedCalls = Extract<ReActObservedInput["observation"], { type: "continue-re-act" }>["toolCalls"];

function recordCalls(edit: StateEdit, toolCalls: ObservedCalls, parts: readonly TurnPart[]): void {
  const ids = callIdsIn(parts);
  for (const id of ids) {
    const call = toolCalls[id];
    if (call !== undefined) edit.putCall(id, { ...call, result: null });
  }
  if (ids.length === 0) return;
  edit.addContextCalls(ids);
  edit.set({ toolCallCount: edit.toolCallCount + ids.length });
}

function continueLoop(edit: StateEdit, cut: boolean): void {
  const turn = lastTurn(edit);
  const ids = callIdsOf(turn);
  const anyBlacklisted = refuseCalls(edit, ids, cut);
  const truncatedCount = cut ? edit.reActContext.truncatedCount + 1 : 0;
  edit.setContext({ truncatedCount });
  if (truncatedCount >= maxTruncatedTurns) {
    const message = `${truncatedCount} turns in a row were cut off at the token limit.`;
    return move<"Planning">(edit, {
      event: "FatalError",
      failure: { source: "loop", kind: "Truncated", message },
    });
  }
  const open = unansweredIds(edit);
  if (open.length > 0) return move<"Planning">(edit, { event: eventForCalls(edit, open) });
  if (anyBlacklisted) return move<"Planning">(edit, { event: "ToolBlacklisted" });
  if (ids.length === 0 && turn?.parts.some((part) => part.type === "internal-call"))
    return move<"Planning">(edit, { event: "ContextChanged" });
  if (ids.length === 0) edit.addNote(["nothingToDo"]);
  move<"Planning">(edit, { event: "AnswerInvalid" });
}

/** Settles the calls that must not run. Returns whether one of them was blacklisted. */
function refuseCalls(edit: StateEdit, ids: readonly string[], cut: boolean): boolean {
  const { maxPerTurn } = edit.config.toolCalls;
  let anyBlacklisted = false;
  ids.forEach((id, index) => {
    const name = recordOf(edit, id)?.name ?? "";
    if (isBlacklisted(edit, { name })) {
      anyBlacklisted = true;
      failCall(edit, id, { code: "blacklisted", says: ["blacklisted", name] });
    } else if (cut) failCall(edit, id, { code: "cut", says: ["cutTurn"] });
    else if (index >= maxPerTurn)
      failCall(edit, id, { code: "too-many-calls", says: ["tooManyCalls", maxPerTurn] });
  });
  return anyBlacklisted;
}

type CallsEvent = "HumanApprovalRequired" | "LlmToolCall" | "LlmParallelToolCalls";

function eventForCalls(edit: StateEdit, open: readonly string[]): CallsEvent {
  const asks = open.some((id) => {
    const record = recordOf(edit, id);
    return record !== undefined && needsHuman(edit, record);
  });
  if (asks) return "HumanApprovalRequired";
  return open.length === 1 || !edit.config.toolCalls.parallel ? "LlmToolCall" : "LlmParallelToolCalls";
}

type Completed = Extract<ReActObservedInput["observation"], { type: "complete-re-act" }>;

function complete(edit: StateEdit, { problem, isLast }: Completed): void {
  edit.setContext({ truncatedCount: 0 });
  const { queued, retryCount } = edit.reActContext;
  const mayRetry = isLast !== true && retryCount < edit.config.retries.maxAnswerRetries;
  if (queued.some((entry) => entry.type === "message"))
    return move<"Planning">(edit, { event: "UserInterjected" });
  if (problem !== undefined && !mayRetry) {
    return move<"Planning">(edit, {
      event: "FatalError",
      failure: { source: "loop", kind: "AnswerInvalid", message: problem },
    });
  }
  if (problem !== undefined) {
    edit.addNote(["answerInvalid"], problem);
    return retryAnswer(edit, "AnswerInvalid");
  }
  if (mayRetry && isTooShort(edit)) {
    edit.addNote(["answerTooShort", edit.config.limits.minAnswerLength]);
    return retryAnswer(edit, "AnswerTooShort");
  }
  move<"Planning">(edit, { event: "LlmFinalAnswer" });
}

const isTooShort = (edit: StateEdit): boolean =>
  textIn(lastTurn(edit)?.parts ?? []).trim().length < edit.config.limits.minAnswerLength;

function retryAnswer(edit: StateEdit, event: "AnswerInvalid" | "AnswerTooShort"): void {
  edit.setContext({ retryCount: edit.reActContext.retryCount + 1 });
  move<"Planning">(edit, { event });
}
