import type { ErrorReport } from "../error-reports.ts";
import { SerialQueue } from "./serial-queue.ts";
import type { Session } from "./session.ts";

/** A session whose pauses hold those that it calls. */
export interface PausingHost {
  readonly isPaused: () => boolean;
  /** Calls the listener when the session may have been paused or resumed. Returns a function that unsubscribes. */
  readonly onPause: (listener: () => void) => () => void;
  readonly report: (report: ErrorReport) => void;
}

type PausedSession = Pick<Session<unknown>, "current" | "pause" | "resume">;

/** The pauses of a session in the time of one call, and how the session of the sub-agent follows them. */
export class CallerPauses {
  readonly #host: PausingHost;
  readonly #unsubscribe: () => void;
  readonly #queue: SerialQueue;
  #child: PausedSession | undefined;
  #hasEnded = false;

  constructor(host: PausingHost) {
    const { onPause, report } = host;
    this.#host = host;
    this.#queue = new SerialQueue((error) => {
      if (!this.#hasEnded) report({ source: "effect", error });
    });
    this.#unsubscribe = onPause(() => {
      if (this.#child !== undefined) this.#queue.add(this.#follow);
    });
  }

  /**
   * Pauses and resumes the session of a sub-agent with this one, until `end`. A pause that another caller has recorded there stays.
   * Resolves when the session is paused if this one is.
   */
  async pause(child: PausedSession): Promise<void> {
    this.#child = child;
    if (this.#host.isPaused() || child.current().paused != null)
      await new Promise<void>((resolve) => this.#queue.add(() => this.#follow().finally(resolve)));
  }

  end(): void {
    this.#hasEnded = true;
    this.#unsubscribe();
  }

  readonly #follow = async (): Promise<void> => {
    const child = this.#child;
    if (child === undefined || this.#hasEnded) return;
    const { paused } = child.current();
    if (!this.#host.isPaused()) {
      if (paused?.reason === pausedWithCaller) await child.resume();
    } else if (paused == null) await child.pause(pausedWithCaller);
  };
}

/** The reason of a pause that the calling session has recorded in the session of a sub-agent. */
const pausedWithCaller = "The session that calls this agent is paused.";
