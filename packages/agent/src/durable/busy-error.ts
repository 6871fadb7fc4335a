import type { Lease } from "@moora/event-log";
import { closesSession } from "./closed-copy.ts";
import { closedError } from "./closed-session.ts";
import { engineOf, ownerOf } from "./lease-holder.ts";
import { SessionError } from "./session-error.ts";

/**
 * The error for a session whose lease another holder has: that of a closed session, or `SessionBusy`, without `until` for a session that
 * an engine runs. `advice` says what to do about the lease of a process.
 */
export function busyError(id: string, lease: Lease, advice: string): SessionError {
  if (closesSession(lease.owner)) return closedError(id, lease);
  const engine = engineOf(lease.owner);
  if (engine !== undefined) return engineError(id, engine);
  const owner = ownerOf(lease.owner);
  const message = `The session ${id} is run by ${owner}. ${advice}`;
  return new SessionError("SessionBusy", message, { owner, until: lease.until });
}

/** What to do about a lease that an opening of the session cannot get. */
export function adviceToOpen({ until }: Lease, now: number): string {
  const end = new Date(until);
  const time = Number.isNaN(end.getTime()) ? String(until) : end.toISOString();
  return (
    `Its lease ends at ${time}, ${until - now} ms from now, unless it is renewed. ` +
    'Wait for it with waitMs, open the session with access "post" or "read", or stop that process.'
  );
}

const engineError = (id: string, owner: string): SessionError =>
  new SessionError(
    "SessionBusy",
    `The session ${id} is run by ${owner}: no process may run it. Post with the host of ${owner}, or open the session with access "read".`,
    { owner },
  );
