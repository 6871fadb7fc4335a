import {
  agentTransition,
  type Agent,
  type AgentEffect,
  systemClock,
  type AgentInput,
  type AgentState,
  type DispatchedInput,
} from "@moora/agent";
import { inputAt } from "@moora/agent-core-effects";
import { isPaused } from "@moora/agent-core-state-machine";
import { logIgnored, logApplied, type EngineSession, type Logger } from "@moora/agent/internal";
import type { SessionCall } from "./ingress.ts";
import type { LiveEffect, LiveEffects } from "./live-effects.ts";
import { sessionIdOf } from "./posted-inputs.ts";
import type { SessionCache, SessionWithHeader } from "./session-cache.ts";
import type { PostedResult, Report } from "./session-messages.ts";

/** What the effects need besides their options. */
export interface EffectParts {
  readonly agent: Agent<unknown>;
  readonly call: SessionCall;
  readonly cache: SessionCache;
  /** Undefined without a live channel. */
  readonly live: LiveEffects | undefined;
}

/** One effect of the session with this digest of its header. */
export interface SessionEffect {
  readonly id: string;
  readonly effect: AgentEffect;
  readonly header: string;
}

/** The session of an effect, which is started, and how it runs. */
interface RunningEffect {
  readonly started: SessionEffect;
  readonly known: SessionWithHeader;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** How often a paused session is asked whether it was resumed, in milliseconds. */
const pausePollMs = 500;

/** The session of an effect that this process runs, from outside the journal of Restate, so that the calls of attempts may vary. */
export class EffectSession implements EngineSession {
  readonly id: string;
  readonly identity: string;
  /** What servers with viewers receive; undefined without a live channel. */
  readonly live: LiveEffect | undefined;
  readonly #parts: EffectParts;
  readonly #effect: RunningEffect;

  constructor(parts: EffectParts, effect: RunningEffect) {
    const { known, started } = effect;
    this.id = started.id;
    this.identity = sessionIdOf(this.id, known.header);
    this.#parts = parts;
    this.#effect = effect;
    this.live = parts.live?.begin({
      id: this.id,
      key: started.effect.key,
      known,
      report: (input) => this.#dispatch([input]),
    });
  }

  async newest(): Promise<AgentState | undefined> {
    const { known, signal } = this.#effect;
    signal.throwIfAborted();
    const { header, session } = await this.#read();
    return header === known.header ? session.state : undefined;
  }

  async append(inputs: readonly DispatchedInput[]): Promise<boolean> {
    await this.live?.reporting();
    return await this.#dispatch(inputs);
  }

  /** Resolves when the session is not paused, or the attempt ends. The object reports no changes, so it is asked. */
  async untilResumed(): Promise<void> {
    while (!this.#effect.signal.aborted && isPaused((await this.#read()).session.state))
      await new Promise<void>((resolve) => void systemClock.after(pausePollMs, resolve));
  }

  withSignal(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    return work(this.#effect.signal);
  }

  /** Reports inputs. Resolves with what became of them. `after` is as in `Report`. */
  async report(inputs: readonly AgentInput[], after?: number): Promise<PostedResult> {
    const { effect, header } = this.#effect.started;
    const report: Report = { inputs, from: effect.key, header, ...(after === undefined ? {} : { after }) };
    const reported = await this.#parts.call(this.id, "report", report);
    this.#parts.live?.recorded(this.id);
    return reported;
  }

  #read(): Promise<SessionWithHeader> {
    return readSession(this.#parts.cache, this.id);
  }

  /** Reports inputs, some of which are computed for the newest state. Resolves with whether they changed the session. */
  async #dispatch(dispatched: readonly DispatchedInput[]): Promise<boolean> {
    for (;;) {
      const { inputs, after } = dispatched.some((input) => typeof input === "function")
        ? bindInputs(dispatched, await this.#read())
        : { inputs: dispatched.filter((input) => typeof input !== "function") };
      const { applied, ignored } = await this.report(inputs, after);
      if (applied === undefined) continue;
      void this.#log(inputs, ignored ?? []);
      return applied > 0;
    }
  }

  /** Logs retries, and the inputs at these indexes as ignored. The newest state has the details; if it cannot be read, there is no entry. */
  async #log(inputs: readonly AgentInput[], ignored: readonly number[]): Promise<void> {
    const { logger } = this.#effect;
    if (!logger.isRead || (ignored.length === 0 && !inputs.some(isFailure))) return;
    const state = await this.#read().then(
      ({ session }) => session.state,
      () => undefined,
    );
    if (state === undefined) return;
    for (const [index, input] of inputs.entries()) {
      if (ignored.includes(index)) logIgnored(logger, input, state);
      else logApplied(logger, input, state);
    }
  }
}

/** Reads a session. Rejects if there is none: the removal of a session cancels its effects. */
export async function readSession(cache: SessionCache, id: string): Promise<SessionWithHeader> {
  const known = await cache.readCurrent(id);
  if (known === undefined) throw new Error(`Restate has no session "${id}".`);
  return known;
}

const isFailure = (input: AgentInput): boolean =>
  input.type === "llm-call-failed" || (input.type === "tool-call-completed" && !input.result.isSuccess);

/** Inputs that are computed for a state apply only to that state. */
function bindInputs(
  dispatched: readonly DispatchedInput[],
  { session }: SessionWithHeader,
): { readonly inputs: readonly AgentInput[]; readonly after?: number } {
  let current: AgentState = session.state;
  const inputs = dispatched.map((input) => {
    const computed = inputAt(input, current);
    current = agentTransition(computed)(current);
    return computed;
  });
  return { inputs, after: session.head.seq };
}
