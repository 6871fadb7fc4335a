import type { AgentEffect } from "@moora/agent-core-effects";
import type { MoorexNotice } from "@moora/moorex";
import type { ErrorReport } from "../error-reports.ts";

/** Receives the errors of a machine, sorted by what has to be done about them. */
export interface MachineErrorHooks {
  /** Inputs were not made durable; `key` names an effect whose input is kept, to be written again. */
  readonly commitFailed: (error: unknown, key: string | undefined) => void;
  /** The reducer threw for an input that another process made durable: the state does not contain it. */
  readonly foreignFailed: (error: unknown) => void;
  /** An exception that no caller hears of. */
  readonly failed: (report: ErrorReport) => void;
  /** An exception left the loop without an effect that would continue it. */
  readonly broken: (error: unknown) => void;
}

type Notice = MoorexNotice<unknown, unknown, AgentEffect>;

/** Passes on the errors that no caller hears of: an input from outside that throws or is not stored rejects to its caller. */
export class MachineErrors {
  readonly #hooks: MachineErrorHooks;
  /** The last exception of the reducer: an effect that fails with it was reported already. */
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
        // The effect hears of it, and dispatches that it failed.
        return failed({ source, error, key });
      case "effectsAt":
        failed({ source, error });
        return broken(error);
      case "subscriber":
        failed({ source: "projection", error });
        return broken(error);
      case "dispatch":
        return;
    }
  }

  /** A question stays open for `decide`; any other effect that fails leaves nothing that would answer it. */
  effectFailed({ key, error, effect }: Extract<Notice, { type: "effect-failed" }>): void {
    const { failed, broken } = this.#hooks;
    if (error !== this.#ofTransition) failed({ source: "effect", error, key });
    if (effect.type !== "ask-human") broken(error);
  }
}
