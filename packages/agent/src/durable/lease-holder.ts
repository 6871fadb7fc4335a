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

/** How the holder ends that the processes of an engine share. That of a process ends with a random id. */
const ofEngine = "##engine";

export const holderOfEngine = (engine: string): string => `${engine}${ofEngine}`;

/** The engine that holds a lease; undefined for the lease of a process. */
export const engineOf = (holder: string): string | undefined =>
  holder.endsWith(ofEngine) ? holder.slice(0, -ofEngine.length) : undefined;

const fingerprintOf = (holder: string): string => holder.split("#").at(-2) ?? "";

/** Whether the process of a holder is known to have ended. */
export const hasEndedProcess = (holder: string): boolean => isProcessGone(fingerprintOf(holder));

/** Whether the owner of a lease is known to have ended. An engine does not end with a process. */
export const isDead = async (
  { owner }: Lease,
  isOwnerGone: (owner: string) => boolean | Promise<boolean> = () => false,
): Promise<boolean> =>
  !closesSession(owner) &&
  engineOf(owner) === undefined &&
  (hasEndedProcess(owner) || (await isOwnerGone(ownerOf(owner))));
