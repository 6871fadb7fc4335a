import { hostname, userInfo } from "node:os";

/** The name of this process as the owner of sessions. */
export const ownerName = (): string => `moora on ${hostname()}, process ${process.pid}`;

/**
 * Whether this owner is a process of this machine that has ended, so that its lease can be taken over at once. A process
 * id that was assigned again counts as alive.
 */
export function isOwnerGone(owner: string): boolean {
  const [, machine, id] = /^moora on (.*), process (\d+)$/.exec(owner) ?? [];
  return machine === hostname() && id !== undefined && !isAlive(Number(id));
}

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** The name of the user on this machine. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "user";
  }
}
