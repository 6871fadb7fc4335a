import type { AgentState, UsageReport } from "@moora/agent-core-state-machine";
import { ladderAt, rungText } from "@moora/agent-core-state-machine/internal";
import type { LlmCallOptions, LlmOutcome, LlmRequest } from "@moora/llm";
import { readOutcome } from "@moora/llm/internal";
import type { CallLlmEffect } from "../effect.ts";
import { requestAt } from "../request/llm-request-at.ts";
import { messagesReferToFiles } from "../request/messages.ts";
import { isAborted } from "./abort.ts";
import { isPromise } from "../is-promise.ts";
import { chunkReporter } from "./chunk-reporter.ts";
import type { EffectHost } from "./host.ts";
import { checkOfStep, checkTurn } from "./check-turn.ts";
import { reportUsage } from "./late-usage.ts";
import { missingPrice, pricedModel, usageOfOutcome } from "./model-cost.ts";
import { requestWithFiles, turnToStore } from "./host-files.ts";
import {
  type FailedCall,
  fileToAttachment,
  numberedTurn,
  toFailedInput,
  toObservedInput,
  toReflectedInput,
} from "./observation.ts";
import { readTurn } from "./read-turn.ts";
import { assertLoggable } from "./assert-loggable.ts";
import { NotSynchronous, waitFor, type EffectProgram } from "./effect-program.ts";
import { dispatchIntent } from "./intent-of.ts";

/** Calls the model and dispatches its answer. The request is computed from the state, so that equal keys send equal bytes. */
export function* callLlm(effect: CallLlmEffect, state: AgentState, host: EffectHost): EffectProgram<void> {
  const { clock, files, parts } = host;
  const request = requestAt(state, host.requests);
  // A reflection is text.
  const needsFiles =
    files !== undefined && request?.purpose === "plan" && messagesReferToFiles(state, host.requests);
  const calledAt = clock.now();
  if (host.intended !== true && !(yield* dispatchIntent(effect, state, host))) return;
  if (request === undefined || isAborted(host)) return;
  const asked = request.model === "" ? (parts.llm.model ?? "") : request.model;
  const unpriced = asked === "" ? undefined : missingPrice(state, asked);
  if (unpriced !== undefined) {
    yield { dispatch: [toFailedInput(effect, { failure: unpriced, partial: "" }, undefined, calledAt)] };
    return;
  }
  let sent = request;
  if (needsFiles) {
    sent = yield* waitFor(requestWithFiles(request, files));
    if (isAborted(host)) return;
  }
  const answering = outcomeOf(effect, { request: sent, state }, host);
  const answered = isPromise(answering) ? yield* waitFor(answering) : answering;
  const outcome = readOutcome(answered, parts.llm.name);
  const usage = usageOfOutcome(state, outcome, { asked, request: sent });
  if (isAborted(host)) return yield* reportUsage(effect.key, usage, host);
  const failed = failureOf(state, outcome, asked, clock.now());
  if (failed !== undefined || !outcome.ok) {
    if (failed !== undefined)
      yield { dispatch: [assertLoggable(toFailedInput(effect, failed, usage, clock.now()))] };
    return;
  }
  warn(state, outcome, usage, host);
  if (effect.purpose === "reflect") {
    yield { dispatch: [assertLoggable(toReflectedInput(effect, outcome, usage ?? {}, clock.now()))] };
    return;
  }
  const stored =
    files === undefined || !outcome.turn.parts.some(({ type }) => type === "file")
      ? outcome
      : {
          ...outcome,
          turn: yield* waitFor(turnToStore(readTurn(outcome.turn), files, fileToAttachment)),
        };
  const turn = numberedTurn(state, stored, host, clock.now());
  const checking = checkTurn(state, turn, parts);
  const check = checkOfStep(state, turn, isPromise(checking) ? yield* waitFor(checking) : checking);
  if (isAborted(host)) return yield* reportUsage(effect.key, usage ?? {}, host);
  const plan = { turn, check, usage: usage ?? {}, calledAt, now: clock.now() };
  yield { dispatch: toObservedInput(effect, outcome, plan) };
}

/** Why a call has failed: its model has no price, or the outcome says so. Undefined for an answer. */
function failureOf(
  state: AgentState,
  outcome: LlmOutcome,
  asked: string,
  now: number,
): FailedCall | undefined {
  if (!outcome.ok) return withinWait(state, outcome, now);
  const unpriced = missingPrice(state, pricedModel(outcome, asked));
  return unpriced === undefined ? undefined : { failure: unpriced, partial: "" };
}

/** The latest time of a `Date`. */
const latestTime = 8.64e15;

/** The failure is final where the provider asks for a longer wait than the agent may take: an earlier attempt would fail, too. */
function withinWait({ config }: AgentState, { failure, partial }: FailedCall, now: number): FailedCall {
  const { maxDelayMs } = config.retries;
  const { retryAfterMs = 0, message } = failure;
  if (!failure.retryable || !(retryAfterMs > maxDelayMs)) return { failure, partial };
  const retryAt = Math.min(now + retryAfterMs, latestTime);
  const text = `${message} The provider accepts no request before ${new Date(retryAt).toISOString()}, which is later than retries.maxDelayMs (${maxDelayMs}) allows.`;
  return { failure: { ...failure, message: text, retryable: false, retryAt }, partial };
}

/** Shows the warnings of an answer, what its request left out, and that its usage is an estimate. */
function warn(
  state: AgentState,
  { warnings = [] }: Extract<LlmOutcome, { ok: true }>,
  usage: UsageReport | undefined,
  { notify }: EffectHost,
): void {
  for (const text of warnings) notify({ type: "llm-warning", text });
  const rung = ladderAt(state);
  const leftOut = rung === undefined ? undefined : rungText(rung);
  if (leftOut !== undefined) notify({ type: "llm-warning", text: leftOut });
  if (usage?.estimated === true) notify({ type: "llm-warning", text: estimatedUsageText(usage) });
}

const estimatedUsageText = ({ inputTokens = 0, outputTokens = 0 }: UsageReport): string =>
  `The provider did not report its usage. About ${inputTokens + outputTokens} tokens are counted, an estimate.`;

/** The outcome of a model call. A caller must not reject; if it does, that counts as a failure. */
function outcomeOf(
  effect: CallLlmEffect,
  { request, state }: { readonly request: LlmRequest; readonly state: AgentState },
  host: EffectHost,
): LlmOutcome | Promise<LlmOutcome> {
  const { llm } = host.parts;
  if (host.synchronous !== true) return llm.call(request, callOptions(effect, state, host));
  if (llm.callSync === undefined) throw new NotSynchronous(`The model ${llm.name} has no callSync.`);
  return llm.callSync(request);
}

function callOptions(effect: CallLlmEffect, state: AgentState, host: EffectHost): LlmCallOptions {
  const { sessionId, signal, limits } = host;
  return {
    signal,
    idempotencyKey: `${sessionId}/${effect.requestKey}`,
    cacheKey: sessionId,
    ...(effect.purpose === "plan" ? { onChunk: chunkReporter(effect, state, host) } : {}),
    ...(limits.llmFirstChunkTimeoutMs === undefined
      ? {}
      : { firstChunkTimeoutMs: limits.llmFirstChunkTimeoutMs }),
    ...(limits.llmIdleTimeoutMs === undefined ? {} : { idleTimeoutMs: limits.llmIdleTimeoutMs }),
  };
}
