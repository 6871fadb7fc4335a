/**
 * The phase of a session in a log.
 *
 * - `opening`: access is `run`, and the `session-opened` of this host is not in the log yet. Effects start only for a state
 *   that contains it.
 * - `open`: the normal phase.
 * - `draining`: `close` was called; the session accepts inputs and starts no effects. `wasOpen`: whether it had been open.
 * - `lost`: the session can no longer follow its log, or another owner took it over.
 * - `closed`: the session has ended. `lost` is the error of a session that was lost before.
 */
type Phase =
  | { readonly type: "opening" }
  | { readonly type: "open" }
  | { readonly type: "draining"; readonly wasOpen: boolean }
  | { readonly type: "lost"; readonly error: Error }
  | { readonly type: "closed"; readonly lost: Error | undefined };

/** The phase of a session in a log, and the transitions between phases. */
export class SessionLifecycle {
  #phase: Phase;

  constructor(phase: "opening" | "open") {
    this.#phase = { type: phase };
  }

  /** Whether effects of a state that contains the opening of this host may be started. */
  get startsEffects(): boolean {
    return this.#phase.type === "opening" || this.#phase.type === "open";
  }

  /** Whether the session follows its log: it is neither lost nor closed. */
  get isLive(): boolean {
    return this.#phase.type !== "lost" && this.#phase.type !== "closed";
  }

  /** Whether to save a snapshot while the session is being closed. */
  get savesSnapshot(): boolean {
    return this.#phase.type === "draining" && this.#phase.wasOpen;
  }

  /** Why the session was lost; undefined if it was not. */
  get lost(): Error | undefined {
    if (this.#phase.type === "lost") return this.#phase.error;
    return this.#phase.type === "closed" ? this.#phase.lost : undefined;
  }

  /** Enters `open` after `opening`: the log contains the `session-opened` of this host. */
  open(): void {
    if (this.#phase.type === "opening") this.#phase = { type: "open" };
  }

  drain(): void {
    if (this.isLive) this.#phase = { type: "draining", wasOpen: this.#phase.type === "open" };
  }

  /** Enters `lost`. Returns false if the session is lost or closed already. */
  lose(error: Error): boolean {
    if (!this.isLive) return false;
    this.#phase = { type: "lost", error };
    return true;
  }

  close(): void {
    this.#phase = { type: "closed", lost: this.lost };
  }
}
