import { digestOf } from "@moora/event-log";

/**
 * The part of Node that this file uses. It is asked for at run time and never imported, so that bundles for browsers hold
 * nothing of it: where there is no `process`, or one without `getBuiltinModule`, there is no local process.
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
  /** Throws `ESRCH` when there is no such process; signal 0 is never delivered. */
  kill(pid: number, signal: 0): unknown;
}
declare const process: NodeProcess | undefined;

export interface LocalProcess {
  /** For people: the host, the process id and the time at which the process started. */
  readonly name: string;
  /** For `isProcessGone`: no two processes have the same, even if they are given the same id. */
  readonly mark: string;
}

/** The process that runs this code; undefined without processes, as in a browser. */
export const localProcess = (): LocalProcess | undefined => (known ??= inspected());

let known: LocalProcess | undefined;

function inspected(): LocalProcess | undefined {
  if (typeof process === "undefined" || process.getBuiltinModule === undefined) return undefined;
  const { pid } = process;
  const host = process.getBuiltinModule("node:os").hostname();
  const started = new Date(Date.now() - process.uptime() * 1_000).toISOString().slice(0, 19);
  return {
    name: `${host}, process ${pid}, started ${started}Z`,
    mark: [pid, statOf(pid)?.start ?? "", machine(host)].join("/"),
  };
}

/**
 * Whether the process that this mark was made for is known to have ended. False for processes of other machines and
 * containers, of which nothing is known here.
 */
export function isProcessGone(mark: string): boolean {
  const own = localProcess();
  const [id = "", start = "", where = ""] = mark.split("/");
  const [ownId = "", ownStart = "", here = ""] = own?.mark.split("/") ?? [];
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

/** What Linux knows of a process; undefined elsewhere, where a process id that was given again counts as alive. */
function statOf(pid: number): { readonly start: string; readonly hasEnded: boolean } | undefined {
  const text = readText(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name of the program, in brackets, may hold anything; the state and the start are fields 3 and 22.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { start: fields[19] ?? "", hasEnded: fields[0] === "Z" || fields[0] === "X" };
}

/** Names what process ids belong to: this boot of this machine, and within it this container. */
function machine(host: string): string {
  const boot = readText("/proc/sys/kernel/random/boot_id");
  return digestOf(boot === undefined ? host : boot, readLink("/proc/self/ns/pid") ?? "").slice(0, 12);
}

const readText = (path: string): string | undefined =>
  attempted(() => process?.getBuiltinModule?.("node:fs").readFileSync(path, "utf8"));

const readLink = (path: string): string | undefined =>
  attempted(() => process?.getBuiltinModule?.("node:fs").readlinkSync(path));

function attempted<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
