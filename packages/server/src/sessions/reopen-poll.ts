import { sessionOwner, type DurableSession } from "@moora/agent";
import type { ServerContext } from "../server-options.ts";
import { isDue } from "./open-durable.ts";

/** How often a session that this server does not run is looked at, in milliseconds. */
const pollMs = 1_000;

type PollContext = Pick<ServerContext, "clock" | "log" | "onError">;

/**
 * Waits until a session that rests has work, such as a deadline, or a message that another process has posted. Then calls back once.
 * Returns a function that stops the waiting.
 */
export const whenDue = (
  context: PollContext,
  session: DurableSession<unknown>,
  onDue: () => void,
): (() => void) => poll(context, async () => isDue(session, context.clock), onDue);

/**
 * Waits until the lease of the process that runs a session has ended. Then calls back once. Returns a function that stops the waiting.
 * Errors of the log are reported, and it is asked again.
 */
export const whenLeft = (context: PollContext, id: string, onLeft: () => void): (() => void) =>
  poll(context, async () => (await sessionOwner(context.log, id, context)) === undefined, onLeft);

/** Looks again and again until `look` has found what it looks for, and then calls back. Returns a function that stops it. */
function poll(
  { clock, onError }: PollContext,
  look: () => Promise<boolean>,
  onFound: () => void,
): () => void {
  let isStopped = false;
  let cancel = (): void => undefined;
  const lookOnce = async (): Promise<void> => {
    const isFound = await look().catch((error: unknown) => {
      onError(error);
      return false;
    });
    if (isStopped) return;
    if (isFound) onFound();
    else lookLater();
  };
  const lookLater = (): void => {
    cancel = clock.after(pollMs, () => void lookOnce(), { keepsAlive: false });
  };
  lookLater();
  return () => {
    isStopped = true;
    cancel();
  };
}
