import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { errorCode } from "../error-code.ts";
import { hasEnded, createHolderName } from "./process-identity.ts";

/** Sockets are bound and connected through this folder, because the path of a socket is limited to about 100 bytes. */
const openFolders = "/proc/self/fd";

/**
 * A file that shows that its holder is alive: a Unix socket on which the holder listens. The operating system knows whether a
 * process listens, so every process that can access the file can test it, also from another container, and it ends with the
 * holder. On file systems without sockets it is an empty file, and only its name identifies the holder.
 */
export class HolderFile {
  readonly name: string = createHolderName();
  readonly #folderFd: number;
  readonly #server: Server;
  #path: string;

  /** Creates the folder and the file in it, and removes the files of dead holders. */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folderFd = openFolder(folder);
    this.#path = join(folder, this.name);
    this.#server = listenOn(join(openFolders, String(this.#folderFd), this.name));
    if (!this.#server.listening) writeFileSync(this.#path, "", { flag: "wx", mode: 0o600 });
    void removeDeadHolders(folder).catch(() => undefined);
  }

  /** The current path of the file: a claim renames it. */
  get path(): string {
    return this.#path;
  }

  set path(path: string) {
    this.#path = path;
  }

  remove(): void {
    this.#server.close();
    removeFile(this.#path);
    closeSync(this.#folderFd);
  }
}

/**
 * Whether a holder file, or the claim that it was renamed to, belongs to a dead holder: no process listens on its socket. False
 * if that cannot be known. Writes nothing.
 */
export async function hasNoListener(folder: string, name: string): Promise<boolean> {
  if (!isSocket(join(folder, name))) return false;
  const folderFd = openFolder(folder);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(join(openFolders, String(folderFd), name));
  socket.on("connect", () => resolve(false));
  socket.on("error", (error) => resolve(errorCode(error) === "ECONNREFUSED"));
  try {
    return await promise;
  } finally {
    socket.destroy();
    closeSync(folderFd);
  }
}

const openFolder = (folder: string): number =>
  openSync(folder, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0));

/** A server that is bound when this returns, unless the file system has no sockets. It does not keep the process alive. */
function listenOn(path: string): Server {
  const server = createServer((connection) => connection.destroy());
  // The error event comes later; until then, the property `listening` is false.
  server.on("error", () => undefined);
  if (existsSync(openFolders)) server.listen({ path, exclusive: true });
  return server.unref();
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    return false;
  }
}

/** Removes a file; does nothing if it does not exist. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

/**
 * Removes the files of killed processes, except claims and links, whose names contain a dot, and files that have links:
 * processes that lock the name remove the claim or the link, and need the file to know whose it is.
 */
async function removeDeadHolders(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    if (name.includes(".") || hasLinks(join(folder, name))) continue;
    if (hasEnded(name) || (await hasNoListener(folder, name))) removeFile(join(folder, name));
  }
}

const hasLinks = (path: string): boolean => (lstatSync(path, { throwIfNoEntry: false })?.nlink ?? 0) > 1;
