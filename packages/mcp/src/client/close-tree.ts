/** How long processes may take to end after their input was closed, and again after a signal. */
const graceMs = 1_500;

/** How long to wait for a process to end before its parent gets a signal: a parent that has ended first leaves a zombie. */
const reapMs = 250;

/**
 * Closes a process with `close`, and ends those that it has started, such as the server behind npx. Of these, the ones that have not ended after
 * `graceMs` get SIGTERM, and then SIGKILL, the innermost first. On Windows, `taskkill` ends them all.
 */
export async function closeTree(pid: number, close: () => Promise<void>): Promise<void> {
  const started = await startedBy(pid);
  const { setTimeout } = process.getBuiltinModule("node:timers/promises");
  const closing = close();
  const isLate = (ms: number): Promise<unknown> =>
    Promise.race([closing, setTimeout(ms, true, { ref: false })]);
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if ((await isLate(graceMs)) === true && process.platform === "win32")
      await outputOf("taskkill", "/T", "/F", "/PID", String(pid));
    for (const one of started.toReversed()) if (kill(one, signal)) await isLate(reapMs);
  }
  await closing;
}

/** The processes that a process has started, and those that these have started. Windows has no `ps`: `taskkill` knows them. */
async function startedBy(pid: number): Promise<readonly number[]> {
  // The id of a process, its name and its state in `/proc`, and the id of its parent.
  const all = Array.from(
    (await processRows()).matchAll(/^ *(\d+)(?: \(.*\) \S)? +(\d+)/gm),
    ([, id, parent]) => [id, parent].map(Number),
  );
  const tree = [pid];
  // The loop also visits what it appends.
  for (const parent of tree) tree.push(...all.flatMap(([id = 0, of]) => (of === parent ? [id] : [])));
  return tree.slice(1);
}

/** A line for each process of this machine. Small images have no `ps`. */
async function processRows(): Promise<string> {
  if (process.platform !== "linux") return await outputOf("ps", "-A", "-o", "pid=,ppid=");
  const { readdir, readFile } = process.getBuiltinModule("node:fs/promises");
  const stats = (await readdir("/proc")).map((name) =>
    readFile(`/proc/${name}/stat`, "utf8").catch(() => ""),
  );
  return (await Promise.all(stats)).join("\n");
}

/** What a program prints; "" if it fails. */
function outputOf(program: string, ...args: readonly string[]): Promise<string> {
  const { execFile } = process.getBuiltinModule("node:child_process");
  return new Promise((resolve) => void execFile(program, args, (_, output) => resolve(output)));
}

/** Sends a signal. Returns false if it cannot be sent, as to a process that has ended. */
function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
