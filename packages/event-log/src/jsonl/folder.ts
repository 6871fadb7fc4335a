import { randomBytes } from "node:crypto";
import { isUtf8 } from "node:buffer";
import { join } from "node:path";
import { LogError } from "../log-error.ts";
import { Listeners } from "../listeners.ts";
import type { LogNotice } from "../port.ts";
import { logClosed, logRemoved } from "../validation.ts";
import { fileNameOf } from "./file-name.ts";
import { type Files, logFailure } from "./files.ts";
import { damagedHeader, headerToLine, lineToHeader } from "./header-line.ts";
import { SessionFile } from "./session-file.ts";

const firstHeaderBytes = 4 * 1024;
const lineBreak = 10;

type Extension = "jsonl" | "lease" | "snapshot";

/** The folder of a log: its files, which this process owns. */
export class JsonlFolder {
  readonly path: string;
  readonly files: Files;
  readonly listeners: Listeners = new Listeners();
  readonly onNotice: (notice: LogNotice) => void;
  readonly #unlock: () => void;
  readonly #sessions = new Map<string, WeakRef<SessionFile>>();
  readonly #kept = new Set<SessionFile>();
  /** The file of the last append, which stays open for the next one. */
  #written: { readonly path: string; readonly fd: number } | undefined;
  #isClosed = false;

  constructor(path: string, files: Files, onNotice: (notice: LogNotice) => void, unlock: () => void) {
    this.path = path;
    this.files = files;
    this.onNotice = onNotice;
    this.#unlock = unlock;
  }

  pathOf(name: string, extension: Extension = "jsonl"): string {
    return join(this.path, `${name}.${extension}`);
  }

  /** Runs an operation on a file of the log; converts errors of the file system to `LogWrite`. */
  run<T>(what: string, path: string, operation: () => T): T {
    if (this.#isClosed) throw logClosed();
    try {
      return operation();
    } catch (error) {
      throw logFailure(what, path, error);
    }
  }

  /** The session of an id; undefined if there is none. */
  session(id: string): SessionFile | undefined {
    const name = fileNameOf(id);
    const known = this.#sessions.get(name)?.deref();
    if (known !== undefined) return known;
    const found = this.read(name);
    if (found !== undefined) this.#sessions.set(name, new WeakRef(found));
    return found;
  }

  /** Reads the header of a file; undefined if there is no file, or it shows that its session was removed. */
  read(name: string): SessionFile | undefined {
    const known = this.#sessions.get(name)?.deref();
    if (known !== undefined) return known;
    return this.files.withFile(this.pathOf(name), "r", (fd) => {
      const { text, length } = firstLine(this.files, fd);
      const { id, generation, header } = lineToHeader(text);
      if (fileNameOf(id) !== name) throw damagedHeader("The file name belongs to another session.");
      return header === undefined
        ? undefined
        : new SessionFile(this, { id, name, generation, header, headerLength: length });
    });
  }

  /** Creates the file of a session, and before it, with `prepare`, those beside it. */
  create(id: string, header: string, prepare: (file: SessionFile) => void): SessionFile {
    const line = { id, generation: randomBytes(16).toString("base64url"), header };
    const text = headerToLine(line);
    const name = fileNameOf(id);
    const file = new SessionFile(this, { ...line, name, headerLength: Buffer.byteLength(text) });
    prepare(file);
    this.files.replace(file.path, text, true);
    this.#sessions.set(name, new WeakRef(file));
    return file;
  }

  /** Removes the files of a name, also damaged ones. */
  remove(name: string): void {
    this.#closeWritten();
    this.files.remove(this.pathOf(name));
    const known = this.#sessions.get(name)?.deref();
    this.#sessions.delete(name);
    if (known !== undefined) {
      known.isRemoved = true;
      this.#kept.delete(known);
    }
    this.listeners.notify(name);
    this.files.remove(this.pathOf(name, "lease"));
    this.files.remove(this.pathOf(name, "snapshot"));
  }

  /** Keeps what is known of a file that may have bytes of a failed append after its end, until the log is closed. */
  keep(file: SessionFile): void {
    this.#kept.add(file);
  }

  /** Passes the open file of a session to `use`. After a failure it is opened again. */
  write({ path, generation: { id } }: SessionFile, use: (fd: number) => void): void {
    if (this.#written?.path !== path) {
      this.#closeWritten();
      const fd = this.files.open(path, "r+");
      if (fd === undefined) throw logRemoved(id);
      this.#written = { path, fd };
    }
    try {
      use(this.#written.fd);
    } catch (error) {
      this.#closeWritten();
      throw error;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.listeners.clear();
    this.#closeWritten();
    this.#unlock();
  }

  #closeWritten(): void {
    if (this.#written !== undefined) this.files.close(this.#written.fd);
    this.#written = undefined;
  }
}

/** The first line of a file, and its length in bytes. */
function firstLine(files: Files, fd: number): { readonly text: string; readonly length: number } {
  for (let size = firstHeaderBytes; ; size *= 8) {
    const bytes = files.bytes(fd, 0, size);
    const end = bytes.indexOf(lineBreak);
    if (end >= 0 && isUtf8(bytes.subarray(0, end)))
      return { text: bytes.toString("utf8", 0, end), length: end + 1 };
    if (bytes.length === 0) throw damagedHeader("Its file is empty.");
    if (end < 0 && bytes.length < size) throw damagedHeader("Its file ends within the first line.");
    if (end >= 0) throw damagedHeader();
  }
}

/** Whether a file is damaged, so that it may be removed without reading it. */
export const isDamage = (error: unknown): boolean => error instanceof LogError && error.code === "LogCorrupt";
