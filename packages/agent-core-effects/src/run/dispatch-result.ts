import type { DataPatch, ToolCallResult, ToolCallResultInput } from "@moora/agent-core-state-machine";
import type { DataState } from "../data/data-at.ts";
import type { DataUpdates } from "../data/data-updates.ts";
import type { CallToolEffect, ProbeToolEffect } from "../effect.ts";
import { errorText } from "../error-text.ts";
import type { Tool } from "../tool/define-tool.ts";
import { toolNamed } from "../tool/tool-named.ts";
import type { ToolOutcome } from "../tool/tool-reply.ts";
import { truncated } from "../truncate.ts";
import { assertLoggable } from "./assert-loggable.ts";
import type { EffectHost } from "./host.ts";
import { validUsage } from "./valid-usage.ts";

/** The outcome of a call as its result. Files come from the code of a tool and are checked; everything else is made here. */
export function resultInput(
  effect: CallToolEffect | ProbeToolEffect,
  outcome: ToolOutcome,
  host: EffectHost,
): ToolCallResultInput {
  const input = outcomeToInput(effect, outcome, host);
  return "files" in input.result ? assertLoggable(input) : input;
}

/** A result with its updates, computed at its turn. A result whose updates are refused is a failure. */
export function resultWithUpdates(
  effect: CallToolEffect,
  outcome: ToolOutcome,
  updates: DataUpdates,
  host: EffectHost,
): (state: DataState) => ToolCallResultInput {
  const input = resultInput(effect, outcome, host);
  return (state) => {
    const patches = patchesOf(updates, state);
    if (typeof patches !== "string") return { ...input, patches };
    const error = `${patches}${patches.endsWith(".") ? "" : "."} The call ran and may have had its effect, but the data was not changed.`;
    const { receivedAt } = input.result;
    return { ...input, result: { isSuccess: false, error, code: "data-refused", receivedAt } };
  };
}

/**
 * The patches of updates, or why they are refused: another update was first, and a recipe no longer fits, or another release has
 * converted the data.
 */
function patchesOf(updates: DataUpdates, state: DataState): readonly DataPatch[] | string {
  try {
    return updates.changeAt(state).patches;
  } catch (error) {
    return errorText(error);
  }
}

function outcomeToInput(
  { toolCallId, key, name }: CallToolEffect | ProbeToolEffect,
  outcome: ToolOutcome,
  { clock, limits, parts }: EffectHost,
): ToolCallResultInput {
  const timestamp = clock.now();
  const result = outcomeToResult(outcome, limits.maxResultLength, timestamp);
  const usage = validUsage(outcome.usage);
  const used = usage === undefined ? {} : { usage };
  const handoff = outcome.isSuccess && outcome.handoff !== undefined ? { handoff: outcome.handoff } : {};
  const mayRepeat = isRepeatable(outcome, toolNamed(parts.tools, name)) ? ({ retryable: true } as const) : {};
  return {
    type: "tool-call-completed",
    toolCallId,
    key,
    result,
    ...mayRepeat,
    ...used,
    ...handoff,
    timestamp,
  };
}

/** Whether the input says that the call may be repeated. It is not said of tools without `retries`. */
const isRepeatable = (outcome: ToolOutcome, tool: Tool | undefined): boolean =>
  !outcome.isSuccess && outcome.retryable === true && tool?.definition.retries !== undefined;

/** The result of an outcome, truncated to `maxLength` characters. */
function outcomeToResult(outcome: ToolOutcome, maxLength: number, receivedAt: number): ToolCallResult {
  if (!outcome.isSuccess) {
    const error = truncated(outcome.error.toWellFormed(), maxLength);
    return { isSuccess: false, error, receivedAt, code: outcome.code };
  }
  const content = truncated(outcome.content.toWellFormed(), maxLength);
  return {
    isSuccess: true,
    content,
    receivedAt,
    ...(outcome.files === undefined ? {} : { files: outcome.files }),
  };
}
