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
import { logIgnored, logApplied, type Logger } from "@moora/agent/internal";
import type { SessionCall } from "./ingress.ts";
import type { LiveEffects } from "./live-effects.ts";
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

/** Which effect of which session: `from` is its key, `header` the digest of the header of the session. */
interface ReportingEffect {
  readonly id: string;
  readonly from: string;
  readonly header: string;
  readonly logger: Logger;
}

/** How often a paused session is asked whether it was resumed, in milliseconds. */
const pausePollMs = 500;

/** What an effect reports to its session. */
export class EffectReports {
  readonly #parts: EffectParts;
  readonly #effect: ReportingEffect;

  constructor(parts: EffectParts, effect: ReportingEffect) {
    this.#parts = parts;
    this.#effect = effect;
  }

  /** Reads the session. */
  async view(): Promise<SessionWithHeader> {
    return await readSession(this.#parts.cache, this.#effect.id);
  }

  /** Reports inputs. Resolves with what became of them. `after` is as in `Posted`. */
  async report(inputs: readonly AgentInput[], after?: number): Promise<PostedResult> {
    const { id, from, header } = this.#effect;
    const report: Report = { inputs, from, header, ...(after === undefined ? {} : { after }) };
    const reported = await this.#parts.call(id, "report", report);
    this.#parts.live?.recorded(id);
    return reported;
  }

  /** Reports inputs, some of which are computed for the newest state. Resolves with whether they changed the session. */
  async dispatch(dispatched: readonly DispatchedInput[]): Promise<boolean> {
    for (;;) {
      const { inputs, after } = dispatched.some((input) => typeof input === "function")
        ? bindInputs(dispatched, await this.view())
        : { inputs: dispatched.filter((input) => typeof input !== "function") };
      const { applied, ignored } = await this.report(inputs, after);
      if (applied === undefined) continue;
      void this.#log(inputs, ignored ?? (applied > 0 ? [] : [...inputs.keys()]));
      return applied > 0;
    }
  }

  /** Resolves when the session is not paused, or the attempt ends. The object reports no changes, so it is asked. */
  async untilResumed(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && isPaused((await this.view()).session.state))
      await new Promise<void>((resolve) => void systemClock.after(pausePollMs, resolve));
  }

  /** Logs retries, and the inputs at these indexes as ignored. The newest state has the details; if it cannot be read, there is no entry. */
  async #log(inputs: readonly AgentInput[], ignored: readonly number[]): Promise<void> {
    const { logger } = this.#effect;
    if (!logger.isRead || (ignored.length === 0 && !inputs.some(isFailure))) return;
    const state = await this.view().then(
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
