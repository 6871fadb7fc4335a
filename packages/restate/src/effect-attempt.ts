import {
  effectsAt,
  interruptionOf,
  performEffect,
  systemClock,
  type AgentEffect,
  type AgentInput,
  type AgentState,
} from "@moora/agent";
import { failureInput } from "@moora/agent-core-effects/internal";
import { lateOutputLogger, Logger } from "@moora/agent/internal";
import { digestOf } from "@moora/event-log";
import { EffectReports, readSession, type EffectParts, type SessionEffect } from "./effect-reports.ts";
import { RestateFailure } from "./ingress.ts";
import type { RestateOptions } from "./options.ts";
import { sessionIdOf } from "./posted-inputs.ts";
import type { SessionWithHeader } from "./session-cache.ts";

/** The session that wants an effect. */
interface Wanted {
  readonly known: SessionWithHeader;
  readonly signal: AbortSignal;
  readonly reports: EffectReports;
}

/** One attempt of Restate to run an effect. It talks to the session from outside the journal, so that its calls may vary. */
export class EffectAttempt {
  readonly #parts: EffectParts;
  readonly #options: RestateOptions;
  readonly #started: SessionEffect;
  readonly #logger: Logger;

  constructor(parts: EffectParts, options: RestateOptions, started: SessionEffect) {
    this.#parts = parts;
    this.#options = options;
    this.#started = started;
    this.#logger = new Logger(started.id, options.onLog);
  }

  get #effect(): AgentEffect {
    return this.#started.effect;
  }

  /** Runs the effect if the session wants it. If its intent is recorded, an earlier attempt had begun: that is reported instead. */
  async run(signal: AbortSignal): Promise<void> {
    const known = await this.#ownSession();
    if (known === undefined || !Object.hasOwn(effectsAt(known.session.state), this.#effect.key)) return;
    const { session } = known;
    const reports = new EffectReports(this.#parts, {
      id: this.#started.id,
      from: this.#effect.key,
      header: digestOf(known.header),
      logger: this.#logger,
    });
    if (await this.#interrupt(session.state, reports)) return;
    if (await this.#hasEnded({ known, signal, reports })) return;
    // Either the session no longer wants the effect, or the intent of an earlier attempt was under way and is recorded by now.
    await this.#interrupt((await reports.view()).session.state, reports);
  }

  /** The session that started the effect; undefined if it was removed and its id has another one now. */
  async #ownSession(): Promise<SessionWithHeader | undefined> {
    const { id, header } = this.#started;
    const known = await readSession(this.#parts.cache, id);
    return digestOf(known.header) === header ? known : undefined;
  }

  /** Reports that an earlier attempt was interrupted, and resolves with whether one had begun. */
  async #interrupt(state: AgentState, reports: EffectReports): Promise<boolean> {
    const interruption = interruptionOf(this.#effect, state, systemClock.now());
    if (interruption === undefined) return false;
    await reports.report([interruption]);
    return true;
  }

  /** Resolves with whether the effect has begun and ended. What the session refuses to record becomes its failure. */
  async #hasEnded(wanted: Wanted): Promise<boolean> {
    try {
      return await this.#perform(wanted);
    } catch (error) {
      // Another attempt would report the same again.
      if (!isRefusal(error)) throw error;
      const failure = failureInput(this.#effect, error, systemClock.now());
      if (failure !== undefined) await wanted.reports.report([failure]);
      return true;
    }
  }

  /** Resolves with whether the effect began: its first input, which is the intent if it has one, changed the session. */
  async #perform({ known, signal, reports }: Wanted): Promise<boolean> {
    let hasBegun: boolean | undefined;
    const { context, onProgress } = this.#options;
    const { id } = this.#started;
    const onLateOutput = lateOutputLogger(this.#logger);
    const { key } = this.#effect;
    const report = (input: AgentInput): Promise<unknown> => reports.dispatch([input]);
    using live = this.#parts.live?.begin({ id, key, known, report });
    await performEffect(this.#parts.agent, this.#effect, known.session.state, {
      sessionId: sessionIdOf(id, known.header),
      signal,
      untilResumed: () => reports.untilResumed(signal),
      dispatch: async (...inputs) => {
        await live?.reporting();
        const hasApplied = await reports.dispatch(inputs);
        hasBegun ??= hasApplied;
        return hasApplied;
      },
      ...(onLateOutput === undefined ? {} : { onLateOutput }),
      ...(context === undefined ? {} : { context }),
      notify: (progress) => {
        onProgress?.(id, progress);
        live?.notify(progress);
      },
    });
    return hasBegun ?? false;
  }
}

/** Whether the session refused what an effect reported: an invalid input, or one that is too long. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RestateFailure && (error.status === 400 || error.status === 413);
