import type { EventLog } from "@moora/event-log";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes, type CliHost } from "../cli-host.ts";
import type { CommandHints } from "./command-hints.ts";

/** The failure of a command that would run a session which another process runs. */
export const sessionBusy = (message: string, id: string, hints: CommandHints): CliFailure =>
  new CliFailure(
    exitCodes.busy,
    `${message}\nTo send it a message: ${hints.command("send", id, "...")}\n` +
      `To watch it: ${hints.command("log", id, "--follow")}`,
  );

/** The process that runs a session at present. Undefined when none does. */
export async function presentOwner(
  log: EventLog,
  id: string,
  { clock, owner: self, isOwnerGone }: Pick<CliHost, "clock" | "owner" | "isOwnerGone">,
): Promise<string | undefined> {
  const session = await log.open(id);
  if (session === undefined) return undefined;
  // Claiming the lease is the only way to see it. It is given back at once.
  const lease = await session.lease({ owner: self, now: clock.now(), ttlMs: 1 });
  if (lease.owner === self) {
    await session.release(self);
    return undefined;
  }
  // Behind the name of the owner there is the id of its lease.
  const owner = lease.owner.replace(/#[^#]*$/, "");
  return isOwnerGone(owner) ? undefined : owner;
}
