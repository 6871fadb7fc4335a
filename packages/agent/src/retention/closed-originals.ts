import type { EventLog } from "@moora/event-log";
import { closedBy, closesKept, closesOriginal, keptHolder, originalHolder } from "../durable/closed-copy.ts";
import { leaseIn } from "../durable/lease-in.ts";
import type { Copied } from "./copy-sessions.ts";

/** The holder that closes a session of a log; undefined for a session that is not closed, and for one that does not exist. */
const closerIn = async (log: EventLog, id: string): Promise<string | undefined> =>
  closedBy(await leaseIn(log, id));

/** The closed originals with which a move continues. */
export class ClosedOriginals {
  readonly #to: EventLog;
  readonly #isCopyLost: boolean;
  #areKept = false;

  constructor(to: EventLog, isCopyLost: boolean) {
    this.#to = to;
    this.#isCopyLost = isCopyLost;
  }

  /** Whether the originals stay: an earlier copy of one of them was declared lost. */
  get areKept(): boolean {
    return this.#areKept;
  }

  /**
   * Whether a move continues with an original. Another log may have the copy of any other one, which would be opened when this move
   * has removed the original.
   */
  async mayContinue(id: string, closer: string): Promise<boolean> {
    const copyHolder = await closerIn(this.#to, id);
    if (copyHolder !== undefined && closer === originalHolder(copyHolder)) return true;
    const kept = copyHolder === undefined ? undefined : keptHolder(copyHolder);
    const wasKept = kept !== undefined && (closer === kept || closer === originalHolder(kept));
    if (!wasKept && !(this.#isCopyLost && closesOriginal(closer))) return false;
    this.#areKept = true;
    return true;
  }
}

/** Keeps closed originals beside their copies. Callers are last: when one is kept, its copy and those of its sub-agents can be opened. */
export async function keepOriginals(copies: readonly Copied[]): Promise<void> {
  for (const { source, holder } of copies) await source.close(keptHolder(holder));
}

/** Whether an original is kept whose complete copy is still closed. */
export async function isKept(from: EventLog, id: string, to: EventLog): Promise<boolean> {
  const closer = await closerIn(from, id);
  if (closer === undefined || !closesKept(closer)) return false;
  const copyHolder = await closerIn(to, id);
  return copyHolder !== undefined && closer === keptHolder(copyHolder);
}
