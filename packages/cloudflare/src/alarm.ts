import { nextWorkAt, type AgentState, type Clock } from "@moora/agent";
import type { ObjectStorage } from "./platform.ts";

export interface AlarmOptions {
  readonly storage: ObjectStorage;
  readonly clock: Clock;
  readonly heartbeatMs: number;
  readonly onError: (error: unknown) => void;
}

/**
 * The alarm of an object. While its session has work, an alarm is due within `heartbeatMs`: if the object is evicted or its machine
 * dies, the alarm starts it again. Otherwise the alarm is due when the work continues, and there is none if only an input can continue it.
 */
export class ObjectAlarm {
  readonly #options: AlarmOptions;
  /** When the alarm is due, by the platform's clock; undefined if there is none, or if it is not known. */
  #due: number | undefined;

  constructor(options: AlarmOptions) {
    this.#options = options;
  }

  /** Makes sure that an alarm is due within `heartbeatMs`. */
  guard(): void {
    const latest = Date.now() + this.#options.heartbeatMs;
    if (this.#due !== undefined && this.#due <= latest) return;
    this.#set(latest);
  }

  /** Sets the alarm for a state to which no input is being added. */
  plan(state: AgentState): void {
    const due = nextWorkAt(state);
    if (due === null) this.clear();
    else if (due === 0) this.guard();
    else this.#set(Date.now() + Math.max(0, due - this.#options.clock.now()));
  }

  clear(): void {
    const { storage, onError } = this.#options;
    this.#due = undefined;
    storage.deleteAlarm().catch(onError);
  }

  /** The alarm has fired: there is none now. */
  fired(): void {
    this.#due = undefined;
  }

  #set(due: number): void {
    const { storage, onError } = this.#options;
    this.#due = due;
    // Not awaited: the platform stores it together with what was written in the same turn.
    storage.setAlarm(due).catch(onError);
  }
}
