import type { AgentEffect } from "@moora/agent-core-effects";
import type { MoorexNotice } from "@moora/moorex";
import type { ErrorReport } from "../error-reports.ts";

/** Callbacks for the errors of a machine, one for each way in which they are handled. */
export interface MachineErrorHooks {
  /** Called when a commit failed; `key` names an effect whose input is kept, to be committed again. */
  readonly commitFailed: (error: unknown, key: string | undefined) => void;
  /** Called when the reducer threw for an input that another process made durable. The state does not contain the input. */
  readonly foreignFailed: (error: unknown) => void;
  /** Called for an exception that does not reject any call. */
  readonly failed: (report: ErrorReport) => void;
  /** Called when an exception leaves the loop without an effect that can continue it. */
  readonly broken: (error: unknown) => void;
}

type Notice = MoorexNotice<unknown, unknown, AgentEffect>;

/** Reports the errors that do not reject any call. An input from outside that throws or is not stored rejects its own call. */
export class MachineErrors {
  readonly #hooks: MachineErrorHooks;
  /** The last exception of the reducer. An effect that fails with the same exception is not reported again. */
  #ofTransition: unknown;

  constructor(hooks: MachineErrorHooks) {
    this.#hooks = hooks;
  }

  caught({ source, error, key }: Extract<Notice, { type: "error-caught" }>): void {
    const { commitFailed, foreignFailed, failed, broken } = this.#hooks;
    switch (source) {
      case "commit":
        return commitFailed(error, key);
      case "foreign":
        return foreignFailed(error);
      case "transition":
        if (key === undefined) return;
        this.#ofTransition = error;
        // The dispatch of the effect rejects, and the effect dispatches its failure.
        return failed({ source, error, key });
      case "effectsAt":
        failed({ source, error });
        return broken(error);
      case "subscriber":
        failed({ source: "projection", error });
        return broken(error);
      case "dispatch":
        return;
      case "effect":
        // Its run is over: the loop does not wait for it.
        if (key === undefined || error === this.#ofTransition) return;
        return failed({ source, error, key });
    }
  }

  /** Handles a failed effect. A question stays open for `decide`; after any other effect the loop cannot continue. */
  effectFailed({ key, error, effect }: Extract<Notice, { type: "effect-failed" }>): void {
    const { failed, broken } = this.#hooks;
    if (error !== this.#ofTransition) failed({ source: "effect", error, key });
    if (effect.type !== "ask-human") broken(error);
  }
}
