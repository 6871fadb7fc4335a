import {
  agentTransition,
  effectsAt,
  interruptionOf,
  performEffect,
  systemClock,
  type Agent,
  type AgentEffect,
  type AgentInput,
  type AgentState,
  type DispatchedInput,
} from "@moora/agent";
import { inputAt } from "@moora/agent-core-effects";
import { failureInput } from "@moora/agent-core-effects/internal";
import { lateOutputLogger, Logger, logIgnored, logRetry } from "@moora/agent/internal";
import { isPaused } from "@moora/agent-core-state-machine";
import * as restate from "@restatedev/restate-sdk";
import { callSession, RestateFailure } from "./ingress.ts";
import { sessionIdOf } from "./posted-inputs.ts";
import { retentionOptions, serviceNames, type RestateOptions } from "./options.ts";
import type { SessionWithHeader, SessionCache } from "./session-cache.ts";
import type { Posted, PostedResult } from "./session-messages.ts";

/** One effect of a session. */
export interface SessionEffect {
  readonly id: string;
  readonly effect: AgentEffect;
}

export interface EffectHandlers {
  run(ctx: restate.Context, effect: SessionEffect): Promise<void>;
}

export type EffectService = restate.ServiceDefinition<string, EffectHandlers>;

const halfAnHourMs = 1_800_000;

/** How often a paused session is asked whether it was resumed, in milliseconds. */
const pausePollMs = 500;

/** What the effects need besides their options. */
interface EffectParts {
  readonly agent: Agent<unknown>;
  readonly cache: SessionCache;
}

/** The service that runs the effects of sessions, one invocation for each. */
export function effectService(parts: EffectParts, options: RestateOptions): EffectService {
  const { effects: name } = serviceNames(parts.agent.name);
  const { longestEffectMs: milliseconds = halfAnHourMs } = options;
  return restate.service({
    name,
    options: {
      ingressPrivate: true,
      explicitCancellation: true,
      // An effect that streams for minutes writes nothing to its journal: Restate must not take that for a hang.
      inactivityTimeout: { milliseconds },
      abortTimeout: { milliseconds },
      retryPolicy: { initialInterval: 50, maxInterval: 10_000 },
      ...retentionOptions(options.retentionMs),
    },
    handlers: {
      run: async (ctx: restate.Context, { id, effect }: SessionEffect) => {
        const abort = new AbortController();
        ctx.request().attemptCompletedSignal.addEventListener("abort", () => abort.abort());
        const perform = ctx.run(effect.key, () =>
          new EffectAttempt(parts, options, id).run(effect, abort.signal),
        );
        await restate.RestatePromise.race([perform, cancellationOf(ctx, abort)]);
      },
    },
  });
}

/** Rejects when the invocation is canceled, and aborts its work first. */
function cancellationOf(ctx: restate.Context, abort: AbortController): restate.RestatePromise<void> {
  // The only way to learn of a cancel while a step runs is in the part of the SDK that is marked as internal.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const internal = ctx as unknown as restate.internal.ContextInternal;
  return internal.cancellation().map(() => {
    abort.abort(new DOMException("The session no longer wants this work.", "AbortError"));
    throw new restate.TerminalError("canceled", { errorCode: 409 });
  });
}

/** The session that wants an effect. */
interface Wanted {
  readonly header: string;
  readonly state: AgentState;
  readonly signal: AbortSignal;
}

/** One attempt of Restate to run an effect. It talks to the session from outside the journal, so that its calls may vary. */
class EffectAttempt {
  readonly #agent: Agent<unknown>;
  readonly #cache: SessionCache;
  readonly #options: RestateOptions;
  readonly #id: string;
  readonly #logger: Logger;

  constructor({ agent, cache }: EffectParts, options: RestateOptions, id: string) {
    this.#agent = agent;
    this.#cache = cache;
    this.#options = options;
    this.#id = id;
    this.#logger = new Logger(id, options.onLog);
  }

  /** Runs an effect that the session wants. If its intent is recorded, an earlier attempt had begun: that is reported instead. */
  async run(effect: AgentEffect, signal: AbortSignal): Promise<void> {
    const {
      header,
      session: { state },
    } = await this.#view();
    if (!Object.hasOwn(effectsAt(state), effect.key)) return;
    if (await this.#interrupt(effect, state)) return;
    try {
      if (await this.#perform(effect, { header, state, signal })) return;
    } catch (error) {
      // Another attempt would report the same again.
      if (!isRefusal(error)) throw error;
      const failure = failureInput(effect, error, systemClock.now());
      if (failure !== undefined) await this.#report({ inputs: [failure], from: effect.key });
      return;
    }
    // Either the session no longer wants the effect, or the intent of an earlier attempt was under way and is recorded by now.
    await this.#interrupt(effect, (await this.#view()).session.state);
  }

  /** Reports that an earlier attempt was interrupted, and resolves with whether one had begun. */
  async #interrupt(effect: AgentEffect, state: AgentState): Promise<boolean> {
    const interruption = interruptionOf(effect, state, systemClock.now());
    if (interruption === undefined) return false;
    await this.#report({ inputs: [interruption], from: effect.key });
    return true;
  }

  /** Resolves with whether the effect began: its first input, which is the intent if it has one, changed the session. */
  async #perform(effect: AgentEffect, { header, state, signal }: Wanted): Promise<boolean> {
    let hasBegun: boolean | undefined;
    const { context, onProgress } = this.#options;
    const onLateOutput = lateOutputLogger(this.#logger);
    await performEffect(this.#agent, effect, state, {
      sessionId: sessionIdOf(this.#id, header),
      signal,
      untilResumed: () => this.#untilResumed(signal),
      dispatch: async (...inputs) => {
        const hasApplied = await this.#dispatch(inputs, effect.key);
        hasBegun ??= hasApplied;
        return hasApplied;
      },
      ...(onLateOutput === undefined ? {} : { onLateOutput }),
      ...(context === undefined ? {} : { context }),
      ...(onProgress === undefined ? {} : { notify: (progress) => onProgress(this.#id, progress) }),
    });
    return hasBegun ?? false;
  }

  async #dispatch(dispatched: readonly DispatchedInput[], from: string): Promise<boolean> {
    for (;;) {
      const posted = dispatched.some((input) => typeof input === "function")
        ? bindInputs(dispatched, await this.#view())
        : { inputs: dispatched.filter((input) => typeof input !== "function") };
      const { applied, ignored } = await this.#report({ ...posted, from });
      if (applied === undefined) continue;
      const all = [...posted.inputs.keys()];
      void this.#log(posted.inputs, ignored ?? (applied > 0 ? [] : all));
      return applied > 0;
    }
  }

  /** Logs retries, and the inputs at these indexes as ignored. The newest state has the details; if it cannot be read, there is no entry. */
  async #log(inputs: readonly AgentInput[], ignored: readonly number[]): Promise<void> {
    if (!this.#logger.isRead || (ignored.length === 0 && !inputs.some(isFailure))) return;
    const state = await this.#view().then(
      ({ session }) => session.state,
      () => undefined,
    );
    if (state === undefined) return;
    for (const [index, input] of inputs.entries()) {
      if (ignored.includes(index)) logIgnored(this.#logger, input, state);
      else logRetry(this.#logger, input, state);
    }
  }

  /** Resolves when the session is not paused, or the attempt ends. The object reports no changes, so it is asked. */
  async #untilResumed(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && isPaused((await this.#view()).session.state))
      await new Promise<void>((resolve) => void systemClock.after(pausePollMs, resolve));
  }

  async #view(): Promise<SessionWithHeader> {
    const known = await this.#cache.readCurrent(this.#id);
    if (known === undefined) throw new Error(`Restate has no session "${this.#id}".`);
    return known;
  }

  async #report(posted: Posted): Promise<PostedResult> {
    const { session: service } = serviceNames(this.#agent.name);
    const target = { service, id: this.#id, handler: "report" };
    // The object answers with what its handler returns.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return (await callSession(this.#options.ingressUrl, target, posted)) as PostedResult;
  }
}

/** Whether the session refused what an effect reported: an invalid input, or one that is too long. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RestateFailure && (error.status === 400 || error.status === 413);

const isFailure = (input: AgentInput): boolean =>
  input.type === "llm-call-failed" || (input.type === "tool-call-completed" && !input.result.isSuccess);

/** Inputs that are computed for a state apply only to that state. */
function bindInputs(dispatched: readonly DispatchedInput[], { session }: SessionWithHeader): Posted {
  let current: AgentState = session.state;
  const inputs = dispatched.map((input) => {
    const computed = inputAt(input, current);
    current = agentTransition(computed)(current);
    return computed;
  });
  return { inputs, after: session.head.seq };
}
