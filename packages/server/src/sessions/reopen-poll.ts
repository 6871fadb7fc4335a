import { sessionOwner, type Clock, type DurableSession } from "@moora/agent";
import type { ServerContext } from "../server-options.ts";
import { isDue } from "./open-durable.ts";

/** How often a session that this server does not run is looked at, in milliseconds. */
const pollMs = 1_000;

/**
 * Waits until a session that rests has work, such as a deadline, or a message that another process has posted. Then calls back once.
 * Returns a function that stops the waiting.
 */
export const whenDue = (
  clock: ServerContext["clock"],
  session: DurableSession<unknown>,
  onDue: () => void,
): (() => void) => poll(clock, (found) => found(isDue(session, clock)), onDue);

/**
 * Waits until the lease of the process that runs a session has ended. Then calls back once. Returns a function that stops the waiting.
 * Errors of the log are reported, and it is asked again.
 */
export const whenLeft = (
  { clock, log, onError }: Pick<ServerContext, "clock" | "log" | "onError">,
  id: string,
  onLeft: () => void,
): (() => void) =>
  poll(
    clock,
    (found) => {
      sessionOwner(log, id, { clock }).then(
        (owner) => found(owner === undefined),
        (error: unknown) => {
          onError(error);
          found(false);
        },
      );
    },
    onLeft,
  );

/** Looks again and again until `look` has found what it looks for, and then calls back. Returns a function that stops it. */
function poll(
  clock: Clock,
  look: (found: (isFound: boolean) => void) => void,
  onFound: () => void,
): () => void {
  let isStopped = false;
  let cancel = (): void => undefined;
  const found = (isFound: boolean): void => {
    if (isStopped) return;
    if (isFound) onFound();
    else lookLater();
  };
  const lookLater = (): void => {
    cancel = clock.after(pollMs, () => look(found), { keepsAlive: false });
  };
  lookLater();
  return () => {
    isStopped = true;
    cancel();
  };
}
