import { digestOf } from "@moora/event-log";

/**
 * The part of Node's `process` that this file uses. It is read at run time and not imported, so that bundles for browsers
 * do not contain it. Without `process`, or without its `getBuiltinModule`, there is no local process.
 */
interface NodeProcess {
  readonly pid: number;
  readonly getBuiltinModule?: {
    (id: "node:os"): { hostname(): string };
    (id: "node:fs"): {
      readFileSync(path: string, encoding: "utf8"): string;
      readlinkSync(path: string): string;
    };
  };
  uptime(): number;
  /** Throws `ESRCH` if the process does not exist. Signal 0 only tests for it. */
  kill(pid: number, signal: 0): unknown;
}
declare const process: NodeProcess | undefined;

export interface LocalProcess {
  /** A readable name: the host, the process id and the time at which the process started. */
  readonly name: string;
  /** A value for `isProcessGone` that no other process has, not even one with the same process id. */
  readonly fingerprint: string;
}

/** The process that runs this code; undefined where there are no processes, as in a browser. */
export const localProcess = (): LocalProcess | undefined => (cached ??= inspectProcess());

let cached: LocalProcess | undefined;

function inspectProcess(): LocalProcess | undefined {
  if (typeof process === "undefined" || process.getBuiltinModule === undefined) return undefined;
  const { pid } = process;
  const host = process.getBuiltinModule("node:os").hostname();
  const started = new Date(Date.now() - process.uptime() * 1_000).toISOString().slice(0, 19);
  return {
    name: `${host}, process ${pid}, started ${started}Z`,
    fingerprint: [pid, statOf(pid)?.start ?? "", machine(host)].join("/"),
  };
}

/**
 * Whether the process with this fingerprint is known to have ended. False for processes of other machines and containers,
 * about which nothing is known here.
 */
export function isProcessGone(fingerprint: string): boolean {
  const own = localProcess();
  const [id = "", start = "", where = ""] = fingerprint.split("/");
  const [ownId = "", ownStart = "", here = ""] = own?.fingerprint.split("/") ?? [];
  if (where === "" || where !== here) return false;
  if (id === ownId) return start !== ownStart;
  if (!isAlive(Number(id))) return true;
  const stat = statOf(Number(id));
  return stat !== undefined && (stat.hasEnded || stat.start !== start);
}

function isAlive(pid: number): boolean {
  try {
    process?.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** The start time and the status of a process on Linux; undefined on other systems, where a reused id counts as alive. */
function statOf(pid: number): { readonly start: string; readonly hasEnded: boolean } | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name of the program, in parentheses, may contain any character. Fields 3 and 22 are the state and the start.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { start: fields[19] ?? "", hasEnded: fields[0] === "Z" || fields[0] === "X" };
}

/** A digest of the scope of process ids: this boot of this machine, and the container within it. */
function machine(host: string): string {
  const boot = readText("/proc/sys/kernel/random/boot_id");
  return digestOf(boot === undefined ? host : boot, readLink("/proc/self/ns/pid") ?? "").slice(0, 12);
}

const readText = (path: string): string | undefined =>
  valueOrUndefined(() => process?.getBuiltinModule?.("node:fs").readFileSync(path, "utf8"));

const readLink = (path: string): string | undefined =>
  valueOrUndefined(() => process?.getBuiltinModule?.("node:fs").readlinkSync(path));

function valueOrUndefined<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
