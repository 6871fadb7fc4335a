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
import { hasEnded, newHolderName } from "./process-identity.ts";

/** Sockets are bound and reached through this folder, since the path of a socket may have about 100 bytes only. */
const openFolders = "/proc/self/fd";

/**
 * A file that shows that its holder lives: a socket on which the holder listens. Whether anyone listens is known to the
 * operating system alone, so it is true for every process that reaches the file, in whatever container, and ends with the
 * holder, however that ends. Where the file system has no sockets, it is an empty file, and its name has to do.
 */
export class HolderSign {
  readonly name: string = newHolderName();
  readonly #folderFd: number;
  readonly #server: Server;
  #path: string;

  /** Makes the folder and puts the sign there. Removes the signs of holders that have ended. */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folderFd = openFolder(folder);
    this.#path = join(folder, this.name);
    this.#server = listening(join(openFolders, String(this.#folderFd), this.name));
    if (!this.#server.listening) writeFileSync(this.#path, "", { flag: "wx", mode: 0o600 });
    void removeDeadSigns(folder).catch(() => undefined);
  }

  /** Where the file is now: a claim moves it. */
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
 * Whether a sign in a folder, or a claim that it was made, has no living holder: nobody listens on its socket. False where
 * that cannot be known. Writes nothing.
 */
export async function isDeserted(folder: string, name: string): Promise<boolean> {
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

/** A server that is bound when this returns, unless the file system has no sockets. It keeps no process alive. */
function listening(path: string): Server {
  const server = createServer((connection) => connection.destroy());
  // Told later; by then `listening` has said so.
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

/** Removes a file that may be gone already. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

/** Removes what killed processes left. Claims, which have a dot in their names, are for those to remove who want the name. */
async function removeDeadSigns(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    if (name.includes(".")) continue;
    if (hasEnded(name) || (await isDeserted(folder, name))) removeFile(join(folder, name));
  }
}
