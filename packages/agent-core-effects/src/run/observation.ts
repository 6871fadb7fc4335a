import type {
  AgentAttachment,
  AgentInput,
  AgentState,
  LlmCallFailedInput,
  ReActObservedInput,
  UsageReport,
  Json,
  ObservedToolCall,
  TurnPart,
} from "@moora/agent-core-state-machine";
import {
  hiddenAmong,
  needsHuman,
  recordOf,
  toolNameOf,
  toolOf,
} from "@moora/agent-core-state-machine/internal";
import type { LlmFile, LlmOutcome } from "@moora/llm";
import { fileToUrl } from "@moora/llm/internal";
import { callId } from "../call-id.ts";
import type { CallLlmEffect } from "../effect.ts";
import { answerInternalCall, callsInternalTool } from "../internal-tools.ts";
import type { EffectHost } from "./host.ts";
import { readAnswerer, readFinish, readTurn } from "./read-turn.ts";

type Answered = Extract<LlmOutcome, { ok: true }>;

/** The parts of a host that an observation uses. */
export type ObservationHost = Pick<EffectHost, "parts" | "sessionId" | "digestOf">;

export interface NumberedCall extends Omit<ObservedToolCall, keyof CallCheck> {
  readonly id: string;
}

/** A turn before its checks: its parts with ids of the session, and the inputs of its internal calls. */
export interface NumberedTurn {
  readonly parts: readonly TurnPart[];
  readonly calls: readonly NumberedCall[];
  readonly before: readonly AgentInput[];
  readonly origin: string;
  readonly raw: Json | undefined;
}

/** Gives calls ids that are numbered through the session. The ids of providers are data, not keys. */
export function numberedTurn(
  state: AgentState,
  { turn }: Answered,
  host: ObservationHost,
  now: number,
): NumberedTurn {
  const calls: NumberedCall[] = [];
  const before: AgentInput[] = [];
  const ids = newCallIds(state);
  const { origin, parts: made, raw: rawTurn } = readTurn(turn);
  const parts = made.map((part): TurnPart => {
    if (part.type === "file") return { ...part, file: fileToAttachment(part.file) };
    if (part.type !== "tool-call") return part;
    const { name, arguments: parameters } = part;
    const raw = part.raw === undefined ? undefined : { raw: part.raw };
    if (callsInternalTool(state, name)) {
      const { input, ...answer } = answerInternalCall(state, name, parameters, now);
      if (input !== undefined) before.push(input);
      return { type: "internal-call", name, arguments: parameters, answer, ...raw };
    }
    // A model that sees earlier calls may repeat the name that a tool had then.
    const call = { id: ids(), name: toolNameOf(state, name), parameters, calledAt: now };
    calls.push(mayAsk(state, call) ? { ...call, digest: callDigest(state, host, call) } : call);
    return { type: "call", toolCallId: call.id, ...raw };
  });
  // A call of a tool that is not offered runs like any other; the model may need its schema for the next one.
  const hidden = hiddenAmong(
    state,
    calls.map(({ name }) => name),
  );
  if (hidden.length > 0) before.push({ type: "tools-found", names: [...hidden], timestamp: now });
  return { parts, calls, before, origin, raw: rawTurn };
}

/** A file by its URL, which is a data URL if the model gave data. */
export const fileToAttachment = (file: LlmFile): AgentAttachment =>
  "url" in file
    ? file
    : {
        mediaType: file.mediaType,
        url: fileToUrl(file),
        ...(file.name === undefined ? {} : { name: file.name }),
      };

/** Whether a human may be asked about a call, so that it needs a digest. */
const mayAsk = (state: AgentState, call: NumberedCall): boolean =>
  needsHuman(state, call) || toolOf(state, call.name)?.onUnknown === "ask";

/** Returns a function that returns the ids of the next calls, one after the other. */
export function newCallIds(state: AgentState): () => string {
  let last = state.toolCallCount;
  return () => {
    do last += 1;
    while (recordOf(state, callId(last)) !== undefined);
    return callId(last);
  };
}

/** Binds an approval to this session, this call, these bytes and this definition of the tool. */
export const callDigest = (
  state: AgentState,
  { sessionId, digestOf }: Pick<EffectHost, "sessionId" | "digestOf">,
  { id, name, parameters }: { readonly id: string; readonly name: string; readonly parameters: string },
): string => digestOf(sessionId, id, name, parameters, JSON.stringify(toolOf(state, name) ?? null));

/** The text of an answer. */
export const answerText = (parts: readonly { readonly type: string; readonly text?: string }[]): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");

/** Whether a turn calls nothing, so that its text is the answer. */
export const isAnswer = ({ calls, parts }: NumberedTurn): boolean =>
  calls.length === 0 && !parts.some((part) => part.type === "internal-call");

/** The check of one call. */
export type CallCheck = Pick<ObservedToolCall, "needsApproval" | "problem">;

/** The checks of a turn: those of its calls, in their order, and the problem of its answer. */
export interface TurnCheck {
  readonly calls: readonly (CallCheck | undefined)[];
  readonly problem: string | undefined;
  /** No step is left for another answer. */
  readonly isLast?: true;
}

/** The data of a finished plan, except its outcome. Times are in milliseconds since 1970. */
export interface ObservedPlan {
  readonly turn: NumberedTurn;
  readonly check: TurnCheck;
  readonly usage: UsageReport;
  readonly calledAt: number;
  readonly now: number;
}

/** The inputs of a finished plan: those of its internal calls, and the observation itself. */
export function toObservedInput(
  effect: CallLlmEffect,
  outcome: Answered,
  { turn, check, ...about }: ObservedPlan,
): readonly AgentInput[] {
  const { parts, before, origin, raw } = turn;
  const observed: ReActObservedInput = {
    type: "re-act-observed",
    key: effect.key,
    messageId: effect.messageId,
    calledLlmAt: about.calledAt,
    timestamp: about.now,
    turn: raw === undefined ? { origin, parts } : { origin, parts, raw },
    observation: toObservation(turn, check),
    usage: about.usage,
    ...(Number.isFinite(outcome.confidence) ? { confidence: outcome.confidence } : undefined),
    finish: readFinish(outcome.finish),
    ...(outcome.answeredBy === undefined ? undefined : { answeredBy: readAnswerer(outcome.answeredBy) }),
  };
  return before.length === 0 ? [observed] : [...before, observed];
}

function toObservation(
  turn: NumberedTurn,
  { calls: checks, problem, isLast }: TurnCheck,
): ReActObservedInput["observation"] {
  if (isAnswer(turn)) {
    return {
      type: "complete-re-act",
      ...(problem === undefined ? {} : { problem }),
      ...(isLast === undefined ? {} : { isLast }),
    };
  }
  const toolCalls: Record<string, ObservedToolCall> = {};
  for (const [index, call] of turn.calls.entries()) toolCalls[call.id] = toObservedCall(call, checks[index]);
  return { type: "continue-re-act", toolCalls };
}

function toObservedCall(
  { name, parameters, calledAt, digest }: NumberedCall,
  check: CallCheck | undefined,
): ObservedToolCall {
  const call = digest === undefined ? { name, parameters, calledAt } : { name, parameters, calledAt, digest };
  return check === undefined ? call : { ...call, ...check };
}

export function toReflectedInput(
  effect: CallLlmEffect,
  outcome: Answered,
  usage: UsageReport,
  timestamp: number,
): AgentInput {
  const summary = answerText(outcome.turn.parts).toWellFormed();
  return { type: "history-reflected", key: effect.key, summary, usage, timestamp };
}

/** A failed model call: a failure of the provider, or of the agent. */
export interface FailedCall {
  readonly failure: LlmCallFailedInput["failure"];
  readonly partial: string;
}

export function toFailedInput(
  effect: CallLlmEffect,
  { failure, partial }: FailedCall,
  usage: UsageReport | undefined,
  timestamp: number,
): AgentInput {
  const { kind, message, retryable, retryAfterMs, retryAt, refusedBy, blamesFiles } = failure;
  return {
    type: "llm-call-failed",
    key: effect.key,
    failure: {
      kind,
      message: message.toWellFormed(),
      retryable,
      ...(retryAfterMs !== undefined && retryAfterMs >= 0 ? { retryAfterMs } : {}),
      ...(retryAt === undefined ? {} : { retryAt }),
      ...(typeof refusedBy === "string" ? { refusedBy: refusedBy.toWellFormed() } : {}),
      ...(blamesFiles === true ? { blamesFiles } : {}),
    },
    ...(usage === undefined ? {} : { usage }),
    ...(partial === "" ? {} : { partial: partial.toWellFormed() }),
    timestamp,
  };
}
