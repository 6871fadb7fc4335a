import type { AgentState } from "@moora/agent-core-state-machine";
import type { RunStateEffect } from "../effect.ts";
import { truncated } from "../truncate.ts";
import type { ToolOutcome } from "../tool/tool-reply.ts";
import type { EffectHost, StateContext, StateDecision } from "./host.ts";
import { isPromise } from "../is-promise.ts";
import { validUsage } from "./valid-usage.ts";
import { handlerSpending, type HandlerSpending } from "./handler-spending.ts";
import { reportUsage } from "./late-usage.ts";
import { assertLoggable } from "./assert-loggable.ts";
import { tell, waitFor, type Run } from "./effect-program.ts";

/** Runs the handler of a custom state, after its intent is durable, and dispatches its decision. */
export function* runState(effect: RunStateEffect, state: AgentState, host: EffectHost): Run<void> {
  const { key } = effect;
  const { clock, signal } = host;
  const intended = yield* tell({ type: "state-handler-started", key, timestamp: clock.now() });
  if (!intended || signal.aborted) return;
  const spending = handlerSpending(state);
  const decision = yield* stateDecision(effect, state, host, spending);
  const usage = validUsage(spending.used());
  if (signal.aborted) return yield* reportUsage(key, usage, host);
  const { event, note } = typeof decision === "string" ? { event: decision, note: undefined } : decision;
  yield* tell(
    assertLoggable({
      type: "state-handled",
      key,
      event: event.toWellFormed(),
      ...(note === undefined ? {} : { note: note.toWellFormed() }),
      ...(usage === undefined ? {} : { usage }),
      timestamp: clock.now(),
    }),
  );
}

/** A handler that is missing is an event, as is one that throws: without a row for it the loop ends, with one it goes on. */
function* stateDecision(
  effect: RunStateEffect,
  state: AgentState,
  host: EffectHost,
  spending: HandlerSpending,
): Run<StateDecision> {
  const { states } = host.parts;
  const handler = Object.hasOwn(states, effect.name) ? states[effect.name] : undefined;
  if (handler === undefined) return "NoHandlerForState";
  return yield* waitFor(handler(state, stateContext(effect, state, host, spending)));
}

function stateContext(
  { workKey, attempt, event }: RunStateEffect,
  state: AgentState,
  host: EffectHost,
  spending: HandlerSpending,
): StateContext {
  const { sessionId, signal, clock } = host;
  const idempotencyKey = `${sessionId}/${workKey}`;
  let calls = 0;
  return {
    signal,
    idempotencyKey,
    attempt,
    event,
    now: () => clock.now(),
    callTool(name, input) {
      calls += 1;
      const toolCallId = `${workKey}/${calls}`;
      return callTool(host, state, spending, { name, input, attempt, toolCallId });
    },
  };
}

interface HandlerCall {
  readonly name: string;
  readonly input: unknown;
  readonly attempt: number;
  readonly toolCallId: string;
}

function callTool(
  { parts, sessionId, signal, notify }: EffectHost,
  state: AgentState,
  spending: HandlerSpending,
  { name, input, attempt, toolCallId }: HandlerCall,
): ToolOutcome | Promise<ToolOutcome> {
  const tool = parts.tools.get(name);
  if (tool === undefined)
    return { isSuccess: false, error: `Unknown tool "${truncated(name, 100)}".`, code: "unknown-tool" };
  const { budgetLeft, settle } = spending.reserve(tool);
  const outcome = tool.run(JSON.stringify(input) ?? "", {
    toolCallId,
    ...(budgetLeft === undefined ? {} : { budgetLeft }),
    idempotencyKey: `${sessionId}/${toolCallId}`,
    attempt,
    signal,
    prices: state.config.prices,
    progress: (text) => notify({ type: "tool-progress", toolCallId, text }),
  });
  return isPromise(outcome) ? outcome.then(settle) : settle(outcome);
}
