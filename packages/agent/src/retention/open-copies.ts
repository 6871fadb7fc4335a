import type { Clock } from "@moora/agent-core-effects";
import type { Lease } from "@moora/event-log";
import { closedBy, isOfCompleteCopy, isOfOriginal } from "../durable/closed-copy.ts";
import { closedError } from "../durable/closed-session.ts";
import { leaseIn } from "../durable/lease-in.ts";
import { SessionError } from "../durable/session-error.ts";
import { isOfWrite } from "../durable/unfinished-write.ts";
import { isKept } from "./closed-originals.ts";
import type { Move } from "./copy-sessions.ts";
import type { ListedSession } from "./session-family.ts";

/** Opens the closed copies that have all records, callers last: their calls find open sessions. Returns their ids. */
export async function openCopies(
  { from, to, clock }: Pick<Move, "from" | "to" | "clock">,
  copies: readonly ListedSession[],
): Promise<readonly string[]> {
  const opened: string[] = [];
  for (const { id } of copies) {
    const session = await to.open(id);
    const lease = await leaseIn(to, id);
    if (lease === undefined || !isOfCompleteCopy(lease, clock.now())) continue;
    // After the lease was read: another process may have moved the session back, and there again.
    if ((await from.open(id)) !== undefined && !(await isKept(from, id, to))) continue;
    await session?.release(lease.owner);
    opened.push(id);
  }
  return opened;
}

/** The error for a closed session that is not a complete copy, where the first log does not have the session; undefined for any other one. */
export function refusalOf(id: string, lease: Lease, clock: Clock): SessionError | undefined {
  if (closedBy(lease) === undefined || isOfCompleteCopy(lease, clock.now())) return undefined;
  return isOfWrite(lease) || isOfOriginal(lease) ? closedError(id, lease) : incompleteError(id);
}

const incompleteError = (id: string): SessionError =>
  new SessionError(
    "MoveUnfinished",
    `The copy of the session ${id} may lack records, and the first log does not have the session. Repeat the move from the log that has it, or remove the copy.`,
  );
