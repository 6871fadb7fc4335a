import { rootCause } from "@moora/llm/internal";
import type { StdioServer } from "./server-address.ts";

/** The errors of a program or a folder that does not exist, and of a folder that is a file. */
const missing: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR"]);

/**
 * Why the program of a server was not found, with the fix; undefined for any other error. Node reports a missing working folder as a
 * missing program. Arguments may be secret, and are not part of the text.
 */
export async function spawnProblem(
  { command, cwd }: StdioServer,
  error: unknown,
): Promise<string | undefined> {
  if (!missing.has(rootCause(error).code)) return undefined;
  if (cwd !== undefined && !(await isFolder(cwd)))
    return `cwd must be a folder that exists, got ${JSON.stringify(cwd)}.`;
  if (/\s/.test(command))
    return "command must be a program without arguments. Give the arguments as a list, in args.";
  return `The program ${JSON.stringify(command)} was not found. Install it, or give its path.`;
}

async function isFolder(path: string): Promise<boolean> {
  const { stat } = await import("node:fs/promises");
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
