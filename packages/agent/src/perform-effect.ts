import {
  isIntentRecorded,
  programOf,
  runProgram,
  type AgentEffect,
  type AskHumanEffect,
  type AskReviewer,
  type Clock,
  type DispatchBatch,
  type DispatchedInput,
  type EffectHost,
  type HostContext,
  type NeedsContext,
} from "@moora/agent-core-effects";
import { refuse, shownValue } from "@moora/agent-core-effects/internal";
import { parseInput, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { noReviewer } from "@moora/agent-core-state-machine/internal";
import { digestOf } from "@moora/event-log";
import { checkIsAgent, checkIsEffect, checkIsState } from "./check-arguments.ts";
import { checkOptions, type OptionForms } from "./check-options.ts";
import { systemClock } from "./clock.ts";
import { decisionToInput } from "./decision-to-input.ts";
import type { Agent } from "./define-agent.ts";
import { refusalWithoutReviewer } from "./no-reviewer.ts";
import { checkContext } from "./session-context.ts";
import { codeAt } from "./team/member-at.ts";
import { WorkSignal } from "./work-signal.ts";

/**
 * The options of `performEffect`. `signal` aborts the work of the effect until its result has applied: abort it when the state no
 * longer wants the effect. `notify` receives its progress, `ask` shows a question to a reviewer, `context` is what the tools and
 * handlers need of the host, and `files` stores the bytes of files. `untilResumed` resolves when the session is not paused: the tools that a handler calls wait for it.
 * `onLateOutput` is called with the key of the effect for what arrives after it was aborted, and is dropped. Default: none of them.
 */
export interface PerformOptions extends Partial<
  Pick<EffectHost, "signal" | "notify" | "ask" | "intended" | "files" | "untilResumed" | "onLateOutput">
> {
  /**
   * Applies inputs to the newest state, in order, and returns whether that changed it, as `applyInputs` does. Called with the
   * intent before the work starts, and with the results after it. A result that updates application data is a function of
   * the state before it, and so is an update that a tool commits while it runs.
   */
  readonly dispatch: DispatchBatch;
  /**
   * The identity of the session, a part of the digests of questions and of idempotency keys: the same for all effects of a
   * session, and that of no other one. `SharedSession.identity`, or an id of your own, such as a random one.
   */
  readonly sessionId: string;
  readonly context?: unknown;
  /** Default: `systemClock`. */
  readonly clock?: Clock;
}

const performForms: OptionForms<PerformOptions> = {
  dispatch: "function",
  sessionId: "string",
  clock: "clock",
  signal: "signal",
  notify: "function",
  ask: "function",
  intended: "boolean",
  context: "any",
  files: "object",
  untilResumed: "function",
  onLateOutput: "function",
};

/**
 * Executes one effect of an agent without a session: dispatches its intent, does the work if `dispatch` returned that the
 * intent applied, and dispatches the results. So an effect that is canceled, or that another runner has started, does not
 * run. Rejects with what `dispatch` throws, and then dispatches nothing more. Without `ask` a question is rejected; with it,
 * it waits for a decision that you apply. Throws `BuildError` for an invalid agent, for an unknown or invalid option,
 * without a `sessionId`, without a `context` that the agent needs, and for an effect that the state contains as started: unless `intended` is true, an
 * earlier process may have run it. Dispatch `session-opened` to a restored state before you compute its effects.
 */
export async function performEffect<Context = unknown>(
  agent: Pick<Agent<unknown>, "parts" | "runLimits" | "team"> & NeedsContext<Context>,
  effect: AgentEffect,
  state: AgentState,
  options: PerformOptions & (unknown extends Context ? unknown : HostContext<NoInfer<Context>>),
): Promise<void> {
  checkIsAgent("performEffect", agent, ["parts", "runLimits"]);
  checkIsEffect(effect);
  checkIsState(state);
  checkPerformOptions(options, effect, state);
  checkContext("performEffect", agent, options.context);
  const { dispatch, ask, signal, clock = systemClock } = options;
  if (effect.type === "ask-human" && ask === undefined) {
    await dispatched(dispatch, [rejectionOf(effect, clock)]);
    return;
  }
  const dispatchBatch = failingOnce(dispatch);
  const work = new WorkSignal(signal);
  const host = hostOf(codeAt(agent, state), options, { dispatchBatch, signal: work.signal });
  try {
    await runProgram(programOf(effect, state, host), work.guard(dispatchBatch));
  } finally {
    work.close();
  }
}

function checkPerformOptions(options: PerformOptions, effect: AgentEffect, state: AgentState): void {
  checkOptions("performEffect", options, performForms);
  const { dispatch, intended, sessionId } = options;
  if (typeof dispatch !== "function")
    refuse("performEffect needs dispatch, a function that returns whether the inputs changed the state.");
  if (typeof sessionId !== "string" || sessionId === "") refuse(needsSessionId);
  if (intended !== true && isIntentRecorded(effect, state)) refuse(startedBefore(effect));
}

/** The host of an effect. An option that is given as undefined is left out. */
function hostOf(
  { parts, runLimits: limits }: Pick<Agent<unknown>, "parts" | "runLimits">,
  options: PerformOptions,
  { dispatchBatch, signal }: { readonly dispatchBatch: DispatchBatch; readonly signal: AbortSignal },
): EffectHost {
  const { dispatch: _, ask, intended, untilResumed, clock = systemClock, ...rest } = options;
  return {
    dispatchAtOnce: async (input) => await dispatchBatch(input),
    notify: () => undefined,
    ...rest,
    ...(intended === undefined ? {} : { intended }),
    ...(ask === undefined ? {} : { ask: checkedAsk(ask) }),
    ...(untilResumed === undefined ? {} : { untilResumed }),
    parts,
    limits,
    clock,
    digestOf,
    signal,
  };
}

/** A dispatch that is not called again after it has thrown: a result that could not be dispatched is not a failure of the tool. */
function failingOnce(dispatch: DispatchBatch): DispatchBatch {
  let failed: Promise<boolean> | undefined;
  return async (...inputs) => {
    if (failed !== undefined) return await failed;
    const dispatching = dispatched(dispatch, inputs);
    dispatching.catch(() => {
      failed = dispatching;
    });
    return await dispatching;
  };
}

const needsSessionId =
  "performEffect needs sessionId, a string that no other session has: without it, the calls of all sessions have the same " +
  "idempotency keys. Pass identity of a shared session, or an id of your own.";

const startedBefore = ({ key }: AgentEffect): string =>
  `The state contains ${key} as started, so an earlier process may have run it. Dispatch { type: "session-opened" } to a ` +
  "restored state before you compute its effects, or set intended if this process has dispatched the intent.";

async function dispatched(dispatch: DispatchBatch, inputs: readonly DispatchedInput[]): Promise<boolean> {
  const hasApplied: unknown = await dispatch(...inputs);
  if (typeof hasApplied === "boolean") return hasApplied;
  return refuse(
    `dispatch must return whether the inputs changed the state, true or false, got ${shownValue(hasApplied)}.`,
  );
}

const rejectionOf = (effect: AskHumanEffect, clock: Clock): AgentInput =>
  decisionToInput(effect, refusalWithoutReviewer(effect), { by: noReviewer.by, timestamp: clock.now() });

/** An `ask` of code without types may return anything. An input that does not apply would ask again without an end. */
const checkedAsk =
  (ask: AskReviewer): AskReviewer =>
  async (effect) => {
    const input = await ask(effect);
    const parsed = input === undefined ? undefined : parseInput(input);
    if (parsed === undefined || parsed.ok) return parsed?.input;
    const { path, message } = parsed.problem;
    return refuse(
      `ask returned an invalid input: ${path}: ${message} Return decisionToInput(...), or nothing to leave the question open.`,
    );
  };
