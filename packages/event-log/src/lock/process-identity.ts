import { hash, randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

/** Who holds something: a process, told apart from later ones of the same number. */
interface ProcessIdentity {
  readonly pid: number;
  /** When it was started, in ticks since the machine was; empty where the system does not say. */
  readonly start: string;
  /** The boot of the machine, and the namespace in which `pid` counts. */
  readonly boot: string;
  readonly space: string;
}

/** A name for the present process that no other holder has, also not another one of this process. */
export function newHolderName(): string {
  const { pid, start, boot, space } = ownIdentity();
  return [pid, start, boot, space, randomBytes(8).toString("hex")].join("-");
}

/**
 * Whether the holder of this name has surely ended: by the number of its process and the time at which that was started,
 * so that a number that was given again does not count as alive. False where it cannot be known from here, as for a
 * process of another container.
 */
export function hasEnded(holderName: string): boolean {
  const holder = nameToIdentity(holderName);
  if (holder === undefined) return false;
  const own = ownIdentity();
  if (holder.boot !== own.boot) return holder.boot !== "" && own.boot !== "";
  if (holder.space !== own.space || holder.pid === own.pid) return false;
  if (!isRunning(holder.pid)) return true;
  const { start, state } = processStat(holder.pid);
  return state === "Z" || state === "X" || (start !== "" && holder.start !== "" && start !== holder.start);
}

function nameToIdentity(name: string): ProcessIdentity | undefined {
  const [, pid, start = "", boot = "", space = ""] =
    /^(\d+)-(\d*)-([0-9a-f]*)-([0-9a-f]*)-[0-9a-f]{16}$/.exec(name) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), start, boot, space };
}

let own: ProcessIdentity | undefined;

const ownIdentity = (): ProcessIdentity =>
  (own ??= {
    pid: process.pid,
    start: processStat(process.pid).start,
    boot: shortHash(readText("/proc/sys/kernel/random/boot_id")),
    space: shortHash(linkTarget("/proc/self/ns/pid")),
  });

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** State and start of a process on Linux; empty elsewhere. The name before them may hold any character. */
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
