import type { Lease } from "@moora/event-log";
import { randomId } from "../user-message.ts";
import { closesSession } from "./closed-copy.ts";
import { isProcessGone, localProcess } from "./local-process.ts";

/**
 * The holder of a lease: one opening of a session, not a name. It consists of the owner, the fingerprint of its process,
 * which shows whether that process still runs, and a random id.
 */
export const holderOf = (owner: string): string =>
  [owner, localProcess()?.fingerprint ?? "", randomId("lease")].join("#");

/** The owner of a lease. */
export const ownerOf = (holder: string): string => holder.split("#").slice(0, -2).join("#") || holder;

const fingerprintOf = (holder: string): string => holder.split("#").at(-2) ?? "";

/** Whether the process of a holder is known to have ended. */
export const hasEndedProcess = (holder: string): boolean => isProcessGone(fingerprintOf(holder));

/** Whether the owner of a lease is known to have ended. */
export const isDead = async (
  { owner }: Lease,
  isOwnerGone: (owner: string) => boolean | Promise<boolean> = () => false,
): Promise<boolean> =>
  !closesSession(owner) && (hasEndedProcess(owner) || (await isOwnerGone(ownerOf(owner))));
