import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from "node:fs";
import { codeOf, fileProblem } from "./session/use-file.ts";
import { shellWord } from "./shell-command.ts";
import { usageError } from "./cli-failure.ts";

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
 * The key in a file. A file that is missing is created with a random key, for its owner only; its folder must exist.
 * `shown`: its name in messages. Throws `CliFailure`, also for a file of this user that is open to others.
 */
export function secretIn(path: string, shown: string): string {
  try {
    if (!existsSync(path)) createPrivateFile(path, `${prefix}${randomBytes(32).toString("hex")}\n`);
    const found = opened(path);
    checkMode(found, path, shown);
    const secret = found.text.trim();
    if (Buffer.byteLength(secret) >= minBytes) return secret;
  } catch (error) {
    const problem = fileProblem(error);
    if (problem === undefined) throw error;
    throw usageError(`The key in ${shown} ${problem}.`, "Name another file with --secret-file.");
  }
  throw usageError(
    `The key in ${shown} is shorter than ${minBytes} bytes.`,
    "Remove the file to have a new key created, or name another one with --secret-file.",
  );
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
  throw usageError(
    `The key in ${shown} is open to other users: its mode is ${mode}.`,
    `Run: chmod 600 ${shellWord(shown)}`,
  );
}

/** Every other user and the group. */
const others = 0o077;

/** Creates a file with the whole content or not at all, for its owner only, unless the path exists meanwhile, also as a link. */
function createPrivateFile(path: string, content: string): void {
  const draft = nameBeside(path);
  try {
    writeFileSync(draft, content, { flag: "wx", mode: 0o600, flush: true });
    linkOrCopy(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Whether other users have a permission on a file of this user. Never on Windows, which has no modes. */
function isOpenToOthers({ mode, uid }: { readonly mode: number; readonly uid: number }): boolean {
  return process.platform !== "win32" && uid === process.getuid?.() && (mode & others) !== 0;
}

/** Whether files beside this one have modes of their own. File systems such as FAT show one mode for all. */
function keepsModes(path: string): boolean {
  const probe = nameBeside(path);
  try {
    writeFileSync(probe, "", { flag: "wx", mode: 0o600 });
    return (statSync(probe).mode & others) === 0;
  } catch {
    return true;
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Gives a file a second name, or copies it where the file system has no hard links. Keeps a file of this name. */
function linkOrCopy(path: string, name: string): void {
  try {
    linkSync(path, name);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") copyFileSync(path, name, constants.COPYFILE_EXCL);
  }
}

const nameBeside = (path: string): string => `${path}.${randomBytes(6).toString("hex")}.new`;
