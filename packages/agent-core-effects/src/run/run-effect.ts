import type { AgentState } from "@moora/agent-core-state-machine";
import type { AgentEffect, AskHumanEffect, RunStateEffect, WaitUntilEffect } from "../effect.ts";
import type { Clock, RunHost, StateDecision } from "./agent-parts.ts";
import { brokenOff } from "./broken-off.ts";
import { callAfter } from "./call-after.ts";
import { callLlm } from "./call-llm.ts";
import { callTool, probeTool } from "./call-tool.ts";
import { recordable } from "./recordable.ts";
import { NotSynchronous, tell, waitFor, type Run } from "./run-steps.ts";

/**
 * Does what an effect says and tells what happened, as a program for one of the drivers. Whatever throws on the way, a
 * model, a tool, a handler, is told as its failure: an effect that is still wanted never ends without an answer.
 */
export function* runOf(effect: AgentEffect, state: AgentState, host: RunHost): Run<void> {
  try {
    yield* workOf(effect, state, host);
  } catch (error) {
    if (error instanceof NotSynchronous) throw error;
    const told = host.signal.aborted ? undefined : brokenOff(effect, error, host.clock.now());
    if (told === undefined) throw error;
    yield* tell(told);
  }
}

function workOf(effect: AgentEffect, state: AgentState, host: RunHost): Run<void> {
  switch (effect.type) {
    case "call-llm":
      return callLlm(effect, state, host);
    case "call-tool":
      return callTool(effect, state, host);
    case "probe-tool":
      return probeTool(effect, state, host);
    case "ask-human":
      return askHuman(effect, host);
    case "run-state":
      return runState(effect, state, host);
    case "wait-until":
      return waitUntil(effect, host);
  }
}

/** A question is answered by a decision from outside: putting it is all there is to do. */
function* askHuman(effect: AskHumanEffect, { ask }: RunHost): Run<void> {
  yield* waitFor(ask?.(effect));
}

function* runState({ key, name }: RunStateEffect, state: AgentState, host: RunHost): Run<void> {
  const decision = yield* stateDecision(name, state, host);
  if (host.signal.aborted) return;
  const { event, note } = typeof decision === "string" ? { event: decision, note: undefined } : decision;
  yield* tell(
    recordable({
      type: "state-handled",
      key,
      event: event.toWellFormed(),
      ...(note === undefined ? {} : { note: note.toWellFormed() }),
      timestamp: host.clock.now(),
    }),
  );
}

/** A handler that is missing is an event, as is one that throws: without a row for it the loop ends, with one it goes on. */
function* stateDecision(
  name: string,
  state: AgentState,
  { parts: { states }, signal }: RunHost,
): Run<StateDecision> {
  const handler = Object.hasOwn(states, name) ? states[name] : undefined;
  return handler === undefined ? "NoHandlerForState" : yield* waitFor(handler(state, { signal }));
}

function* waitUntil({ key, due }: WaitUntilEffect, { clock, signal }: RunHost): Run<void> {
  if (due > clock.now()) yield* waitFor(timePassed(due, clock, signal));
  if (!signal.aborted) yield* tell({ type: "deadline-passed", key, timestamp: clock.now() });
}

async function timePassed(due: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const stop = (): void => ended.resolve();
  let callOff = (): void => undefined;
  const wait = (): void => {
    const left = due - clock.now();
    if (left <= 0) ended.resolve();
    else callOff = callAfter(clock, left, wait);
  };
  if (signal.aborted) return;
  signal.addEventListener("abort", stop, { once: true });
  wait();
  await ended.promise;
  callOff();
  signal.removeEventListener("abort", stop);
}
