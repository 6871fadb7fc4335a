import type { DurableSession } from "@moora/agent";
import type { LiveSession } from "./live-session.ts";

type Unsubscribe = () => void;

/**
 * Subscribes to the `DurableSession` behind a live session, and to each one that replaces it. Returns a function that unsubscribes.
 */
export function onSessions(
  live: LiveSession,
  subscribe: (session: DurableSession<unknown>) => readonly Unsubscribe[],
): Unsubscribe {
  let current = subscribe(live.session);
  const leave = (): void => {
    for (const stop of current) stop();
  };
  const stopReplacing = live.onReplaced(() => {
    leave();
    current = subscribe(live.session);
  });
  return () => {
    stopReplacing();
    leave();
  };
}
