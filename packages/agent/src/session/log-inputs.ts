import type { EffectHost } from "@moora/agent-core-effects";
import {
  ignoredReason,
  type AgentInput,
  type AgentState,
  type ReActObservedInput,
} from "@moora/agent-core-state-machine";
import type { Logger } from "../logger.ts";
import { retryOf } from "./events.ts";

/** Logs an input that changed nothing, with the reason. */
export function logIgnored(logger: Logger, input: AgentInput, state: AgentState): void {
  if (!logger.isRead) return;
  const { type } = input;
  const reason = ignoredReason(input)(state) ?? "nothing-new";
  logger.log("input-ignored", { message: `A ${type} did not apply: ${reason}.`, data: { type, reason } });
}

/** Logs a result of an effect that has ended: it was canceled or timed out, or the state no longer wants it. */
export const logLate = (logger: Logger, key: string): void =>
  logger.log("late-result", {
    message: `A result of ${key} was dropped: it came after its end.`,
    data: { key },
  });

/** Logs what arrives after a call was aborted; undefined if no entries are read. */
export const lateOutputLogger = (logger: Logger): EffectHost["onLateOutput"] =>
  logger.isRead
    ? (key, what) => (what === "result" ? logLate(logger, key) : logChunk(logger, key))
    : undefined;

const logChunk = (logger: Logger, key: string): void =>
  logger.log("chunk-dropped", {
    message: `The model of ${key} streams after its call was aborted; its chunks are dropped.`,
    data: { key },
  });

/** Logs what is notable about an input that was applied: a retry that it has scheduled, and a usage that is an estimate. */
export function logApplied(logger: Logger, input: AgentInput, state: AgentState): void {
  if ("usage" in input && input.usage?.estimated === true && "key" in input) logEstimate(logger, input);
  const retry = retryOf(input, state);
  if (retry?.type === "LlmRetryScheduled" && input.type === "llm-call-failed") {
    const { reason: kind, due } = retry;
    const data = { key: input.key, kind, due };
    logger.log("llm-retry", { message: `A model call failed (${kind}) and is repeated.`, data });
  }
  if (retry?.type === "ToolCallRetryScheduled") {
    const { toolCallId, name, due } = retry;
    const data = { toolCallId, name, due };
    logger.log("tool-retry", { message: `A call of ${name} failed and is repeated.`, data });
  }
}

function logEstimate(
  logger: Logger,
  { key = "", usage = {} }: Pick<ReActObservedInput, "key" | "usage">,
): void {
  const { inputTokens = 0, outputTokens = 0 } = usage;
  const message = "The provider did not report the usage of a model call; an estimate is counted.";
  logger.log("usage-estimated", { message, data: { key, inputTokens, outputTokens } });
}
