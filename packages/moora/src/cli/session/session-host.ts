import { hostname, userInfo } from "node:os";

/** The name of this process among all that may run a session. */
export const ownerName = (): string => `moora on ${hostname()}, process ${process.pid}`;

/**
 * Whether the owner of this name is a process of this machine that has ended: then nobody has to wait for the end of its
 * right to run. A process id that was given again counts as alive, and others are waited for.
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

/** Who sits here, by the name that the machine knows. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "user";
  }
}
