/**
 * How far a session in a log is.
 *
 * - `opening`: it is to run, and its `session-opened` is not yet in the log; no effect is started.
 * - `open`: the normal phase.
 * - `draining`: it was closed; it still takes inputs and starts no more effects. `wasOpen`: it had been open before.
 * - `lost`: it can no longer follow its log, or another owner took it over.
 * - `closed`: nothing happens anymore. `lost` is the error of a session that was lost before.
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

  /** Whether effects may be started. */
  get startsEffects(): boolean {
    return this.#phase.type === "open";
  }

  /** Whether the session follows its log: it is neither lost nor closed. */
  get isLive(): boolean {
    return this.#phase.type !== "lost" && this.#phase.type !== "closed";
  }

  /** Whether a session that is being closed has something worth a snapshot. */
  get savesSnapshot(): boolean {
    return this.#phase.type === "draining" && this.#phase.wasOpen;
  }

  /** Why the session was lost; undefined if it was not. */
  get lost(): Error | undefined {
    if (this.#phase.type === "lost") return this.#phase.error;
    return this.#phase.type === "closed" ? this.#phase.lost : undefined;
  }

  /** The log contains that this session runs. */
  open(): void {
    if (this.#phase.type === "opening") this.#phase = { type: "open" };
  }

  drain(): void {
    if (this.isLive) this.#phase = { type: "draining", wasOpen: this.#phase.type === "open" };
  }

  /** Returns false if the session is lost or closed already. */
  lose(error: Error): boolean {
    if (!this.isLive) return false;
    this.#phase = { type: "lost", error };
    return true;
  }

  close(): void {
    this.#phase = { type: "closed", lost: this.lost };
  }
}
