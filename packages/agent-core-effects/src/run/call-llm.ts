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
import { NotSynchronous, dispatch, waitFor, type EffectProgram } from "./effect-program.ts";
import { dispatchIntent } from "./intent-of.ts";

/** Calls the model and dispatches its answer. The request is computed from the state, so that equal keys send equal bytes. */
export function* callLlm(effect: CallLlmEffect, state: AgentState, host: EffectHost): EffectProgram<void> {
  const { clock } = host;
  const { files } = host;
  const request = requestAt(state, host.requests);
  // A reflection is text.
  const needsFiles =
    files !== undefined && request?.purpose === "plan" && messagesReferToFiles(state, host.requests);
  const calledAt = clock.now();
  const intended = yield* dispatchIntent(effect, state, host);
  if (request === undefined || !intended || isAborted(host)) return;
  const asked = request.model === "" ? (host.parts.llm.model ?? "") : request.model;
  const unpriced = asked === "" ? undefined : missingPrice(state, asked);
  if (unpriced !== undefined) {
    return void (yield* dispatch(
      toFailedInput(effect, { failure: unpriced, partial: "" }, undefined, calledAt),
    ));
  }
  let sent = request;
  if (needsFiles) {
    sent = yield* waitFor(requestWithFiles(request, files));
    if (isAborted(host)) return;
  }
  const outcome = readOutcome(
    yield* waitFor(outcomeOf(effect, { request: sent, state }, host)),
    host.parts.llm.name,
  );
  const called = { outcome, asked, request: sent, calledAt };
  if (isAborted(host)) return yield* reportUsage(effect.key, usageOfOutcome(state, outcome, called), host);
  yield* dispatchOutcome(effect, state, host, called);
}

interface Called {
  readonly outcome: LlmOutcome;
  readonly asked: string;
  readonly request: LlmRequest;
  readonly calledAt: number;
}

function* dispatchOutcome(
  effect: CallLlmEffect,
  state: AgentState,
  host: EffectHost,
  called: Called,
): EffectProgram<void> {
  const { outcome, asked } = called;
  const usage = usageOfOutcome(state, outcome, called);
  const unpriced = outcome.ok ? missingPrice(state, pricedModel(outcome, asked)) : undefined;
  if (outcome.ok && unpriced === undefined)
    return yield* dispatchAnswer(effect, state, host, { ...called, outcome, usage });
  const now = host.clock.now();
  const failed = outcome.ok
    ? unpriced && { failure: unpriced, partial: "" }
    : withinWait(state, outcome, now);
  if (failed !== undefined) yield* dispatch(assertLoggable(toFailedInput(effect, failed, usage, now)));
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

interface Answered extends Called {
  readonly outcome: Extract<LlmOutcome, { ok: true }>;
  readonly usage: UsageReport | undefined;
}

function* dispatchAnswer(
  effect: CallLlmEffect,
  state: AgentState,
  host: EffectHost,
  { outcome, usage = {}, calledAt }: Answered,
): EffectProgram<void> {
  const { clock, parts, notify } = host;
  for (const text of outcome.warnings ?? []) notify({ type: "LlmWarning", text });
  const rung = ladderAt(state);
  const leftOut = rung === undefined ? undefined : rungText(rung);
  if (leftOut !== undefined) notify({ type: "LlmWarning", text: leftOut });
  if (usage.estimated === true) notify({ type: "LlmWarning", text: estimatedUsageText(usage) });
  if (effect.purpose === "reflect")
    return void (yield* dispatch(assertLoggable(toReflectedInput(effect, outcome, usage, clock.now()))));
  const { files } = host;
  const stored =
    files === undefined || !outcome.turn.parts.some(({ type }) => type === "file")
      ? outcome.turn
      : yield* waitFor(turnToStore(readTurn(outcome.turn), files, fileToAttachment));
  const turn = numberedTurn(state, { ...outcome, turn: stored }, host, clock.now());
  const checking = checkTurn(state, turn, parts);
  const check = checkOfStep(state, turn, isPromise(checking) ? yield* waitFor(checking) : checking);
  if (isAborted(host)) return yield* reportUsage(effect.key, usage, host);
  yield { dispatch: toObservedInput(effect, outcome, { turn, check, usage, calledAt, now: clock.now() }) };
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
