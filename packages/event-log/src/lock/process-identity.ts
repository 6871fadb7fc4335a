import { hash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

/** The identity of a process, different from that of later processes with the same number. */
interface ProcessIdentity {
  readonly pid: number;
  /** The start time of the process, in ticks since the boot; empty if unknown. */
  readonly start: string;
  /** The boot of the machine, and the namespace of `pid`; empty if unknown. */
  readonly boot: string;
  readonly pidNamespace: string;
}

/** Creates a unique name for a holder in this process. */
export function createHolderName(): string {
  const { pid, start, boot, pidNamespace } = ownIdentity();
  return [pid, start, boot, pidNamespace, randomBytes(8).toString("hex")].join("-");
}

/**
 * Whether the holder of this name has certainly ended, by the number and the start time of its process, so that a reused
 * number does not count as alive. False if it cannot be known, for example for a process of another container.
 */
export function hasEnded(holderName: string): boolean {
  const holder = nameToIdentity(holderName);
  if (holder === undefined) return false;
  const own = ownIdentity();
  if (holder.boot !== own.boot) return holder.boot !== "" && own.boot !== "";
  if (holder.pidNamespace !== own.pidNamespace || holder.pid === own.pid) return false;
  if (!isRunning(holder.pid)) return true;
  const { start, state } = processStat(holder.pid);
  return state === "Z" || state === "X" || (start !== "" && holder.start !== "" && start !== holder.start);
}

function nameToIdentity(name: string): ProcessIdentity | undefined {
  const [, pid, start = "", boot = "", pidNamespace = ""] =
    /^(\d+)-(\d*)-([0-9a-f]*)-([0-9a-f]*)-[0-9a-f]{16}$/.exec(name) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), start, boot, pidNamespace };
}

let own: ProcessIdentity | undefined;

const ownIdentity = (): ProcessIdentity =>
  (own ??= {
    pid: process.pid,
    start: processStat(process.pid).start,
    boot: shortHash(readText("/proc/sys/kernel/random/boot_id")),
    pidNamespace: shortHash(linkTarget("/proc/self/ns/pid")),
  });

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** The state and start time of a process on Linux; empty elsewhere. The process name before them may contain any character. */
function processStat(pid: number): { readonly state: string; readonly start: string } {
  const text = readText(`/proc/${pid}/stat`);
  const [state = "", ...fields] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { state, start: fields[18] ?? "" };
}

const shortHash = (text: string): string => (text === "" ? "" : hash("sha256", text, "hex").slice(0, 8));

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function linkTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
