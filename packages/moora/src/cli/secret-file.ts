import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, realpathSync, type Stats } from "node:fs";
import { createPrivateFile, isOpenToOthers, keepsModes, removeEmptyFile } from "./private-file.ts";
import { codeOf, fileProblem } from "./session/use-file.ts";
import { shellWord } from "./shell-command.ts";
import { UsageError } from "./usage-error.ts";

/** What `mcpOfServer` accepts as a key, in bytes. */
const minBytes = 32;

/** The beginning of each key that is created. The file tools recognize it, whatever the name of the file is. */
const prefix = "moora-mcp-secret-";

/** A file as it was when it was opened. */
interface OpenedFile {
  readonly text: string;
  readonly stats: Stats;
}

/**
 * The key in a file. A file that is missing or empty is created with a random key, for its owner only; its folder must exist.
 * `shown`: its name in messages. Throws `UsageError`, also for a file of this user that is open to others.
 */
export function secretIn(path: string, shown: string): string {
  try {
    const found = existingOrNew(path);
    checkMode(found, path, shown);
    const secret = found.text.trim();
    if (Buffer.byteLength(secret) >= minBytes) return secret;
  } catch (error) {
    const problem = fileProblem(error);
    if (problem === undefined) throw error;
    throw new UsageError(`The key in ${shown} ${problem}.`, "Name another file with --secret-file.");
  }
  throw new UsageError(
    `The key in ${shown} is shorter than ${minBytes} bytes.`,
    "Remove the file to have a new key created, or name another one with --secret-file.",
  );
}

function existingOrNew(path: string): OpenedFile {
  const found = openedIfExists(path);
  if (found !== undefined && !isEmpty(found)) return found;
  // Of an empty file that a link names, the link stays.
  const real = found === undefined ? path : realpathSync(path);
  if (found !== undefined) removeEmptyFile(real);
  createPrivateFile(real, `${prefix}${randomBytes(32).toString("hex")}\n`);
  return opened(path);
}

/** A pipe or a device is never replaced. */
const isEmpty = ({ text, stats }: OpenedFile): boolean => stats.isFile() && text.trim() === "";

/** Undefined for a file that does not exist. */
function openedIfExists(path: string): OpenedFile | undefined {
  try {
    return opened(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function opened(path: string): OpenedFile {
  const fd = openSync(path, "r");
  try {
    return { stats: fstatSync(fd), text: readFileSync(fd, "utf8") };
  } finally {
    closeSync(fd);
  }
}

/** As ssh does: the file of a key that others can read is refused. */
function checkMode({ stats }: OpenedFile, path: string, shown: string): void {
  if (!stats.isFile() || !isOpenToOthers(stats) || !keepsModes(realpathSync(path))) return;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
  throw new UsageError(
    `The key in ${shown} is open to other users: its mode is ${mode}.`,
    `Run: chmod 600 ${shellWord(shown)}`,
  );
}
