import { randomBytes } from "node:crypto";
import {
  constants,
  copyFileSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { codeOf } from "./session/use-file.ts";

/** Every other user and the group. */
const others = 0o077;

/**
 * Creates a file with the whole content or not at all, for its owner only. Returns whether it did: not where the path exists, also as a
 * link. Throws the errors of the file system.
 */
export function createPrivateFile(path: string, content: string): boolean {
  const draft = nameBeside(path, "new");
  try {
    writeFileSync(draft, content, { flag: "wx", mode: 0o600, flush: true });
    return linkOrCopy(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Removes a file without content. Keeps one that another process has written meanwhile. `path`: a real path. */
export function removeEmptyFile(path: string): void {
  const aside = nameBeside(path, "old");
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  if (readFileSync(aside, "utf8").trim() !== "") linkOrCopy(aside, path);
  rmSync(aside);
}

/** Whether other users have a permission on a file of this user. Never on Windows, which has no modes. */
export function isOpenToOthers({ mode, uid }: { readonly mode: number; readonly uid: number }): boolean {
  return process.platform !== "win32" && uid === process.getuid?.() && (mode & others) !== 0;
}

/** Whether files beside this one have modes of their own. File systems such as FAT show one mode for all. */
export function keepsModes(path: string): boolean {
  const probe = nameBeside(path, "new");
  try {
    writeFileSync(probe, "", { flag: "wx", mode: 0o600 });
    return (statSync(probe).mode & others) === 0;
  } catch {
    return true;
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Gives a file a second name, or copies it where the file system has no hard links. Returns false if the name is taken. */
function linkOrCopy(path: string, name: string): boolean {
  try {
    linkSync(path, name);
    return true;
  } catch (error) {
    return codeOf(error) !== "EEXIST" && copyNew(path, name);
  }
}

function copyNew(path: string, name: string): boolean {
  try {
    copyFileSync(path, name, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

const nameBeside = (path: string, extension: string): string =>
  `${path}.${randomBytes(6).toString("hex")}.${extension}`;
