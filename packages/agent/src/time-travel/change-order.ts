import { DataRefused, type DataContext, type ToolContext } from "@moora/agent-core-effects";
import type { OpenCall } from "@moora/agent-core-state-machine";
import { openCallsOf } from "@moora/agent-core-state-machine/internal";
import type { Session } from "../session/session.ts";
import { recipeOf, type CallChange } from "./recorded-data.ts";

/** The context of a call; `update` is undefined for a tool without data. */
export type WithUpdates = ToolContext & Partial<DataContext<unknown>>;

/** A change that waits for its turn. */
interface Waiting {
  readonly seq: number;
  readonly start: () => void;
}

/**
 * The order in which calls that run at once change the application data of a rerun: that of the recorded session, since patches
 * fit only the data that the changes before them result in.
 */
export class ChangeOrder {
  /** By the id of the call. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #leftOut = new Set<string>();
  #session: Pick<Session<unknown>, "current"> | undefined;

  /** Starts the changes of the calls of a session, which wait until this is called. */
  follow(session: Pick<Session<unknown>, "current" | "onInput">): void {
    this.#session = session;
    session.onInput(() => this.#startNext());
    this.#startNext();
  }

  /** Resolves when a call may make the change that the recorded session has as record `seq`. */
  turnOf(toolCallId: string, seq: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(toolCallId, { seq, start: resolve });
    this.#startNext();
    return promise;
  }

  /** Other calls do not wait for this one: it has no recorded changes, or its question stays open. */
  leaveOut(toolCallId: string): void {
    this.#leftOut.add(toolCallId);
    this.#startNext();
  }

  /**
   * Starts the earliest change when each call that can still make an earlier one waits for its turn. A queued call is not
   * waited for, because it may wait for the end of a call that is here.
   */
  #startNext(): void {
    if (this.#session === undefined || this.#waiting.size === 0) return;
    const calls = openCallsOf(this.#session.current().reActContext.control);
    const mustWait = calls.some((call) => this.#isExpected(call));
    for (const [id, { start }] of [...this.#waiting].toSorted(([, a], [, b]) => a.seq - b.seq)) {
      // A call that has ended, such as by a timeout, does not wait: its change is refused.
      const isOpen = calls.some((call) => call.id === id);
      if (isOpen && mustWait) return;
      this.#waiting.delete(id);
      start();
      if (isOpen) return;
    }
  }

  #isExpected({ id, status: { type } }: OpenCall): boolean {
    return (type === "running" || type === "asking") && !this.#waiting.has(id) && !this.#leftOut.has(id);
  }
}

/**
 * Makes the recorded changes of a call, each at its turn. Returns false if one does not fit; it and those after it are then
 * left out.
 */
export async function repeatChanges(
  changes: readonly CallChange[],
  order: ChangeOrder,
  { toolCallId, update }: WithUpdates,
): Promise<boolean> {
  if (update === undefined) return false;
  try {
    for (const { seq, patches, isEarly } of changes) {
      await order.turnOf(toolCallId, seq);
      if (isEarly) await update.now(recipeOf(patches));
      else {
        // Brings the data of the call, which is that of its start or last commit, up to date.
        await update.now(() => undefined);
        update(recipeOf(patches));
      }
    }
    return true;
  } catch (error) {
    if (error instanceof DataRefused) return false;
    throw error;
  }
}
