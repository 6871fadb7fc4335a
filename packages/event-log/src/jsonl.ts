import { randomBytes } from "node:crypto";
import nodeFileSystem from "node:fs";
import { resolve } from "node:path";
import { checkPlace, logExists, validHeader, validId } from "./validation.ts";
import type { HeadWatch } from "./head-watch.ts";
import { JsonlDirectory } from "./jsonl/directory.ts";
import { watchDirectory } from "./jsonl/directory-watch.ts";
import { fileNameOf, leaseExtension, snapshotExtension } from "./jsonl/file-name.ts";
import type { FileSystem } from "./jsonl/file-system.ts";
import { type Durability, Files } from "./jsonl/files.ts";
import { readHeader } from "./jsonl/head-of-file.ts";
import { damagedHeader, type HeaderLine, headerToLine } from "./jsonl/header-line.ts";
import { listed } from "./jsonl/listing.ts";
import { JsonlSession } from "./jsonl/session.ts";
import type { Life } from "./jsonl/session-file.ts";
import { LogError } from "./log-error.ts";
import { andThen } from "./maybe-promise.ts";
import type { EventLog, LogInfo, LogNotice, MaybePromise, SessionLog } from "./port.ts";
import { warn } from "./warn.ts";

export type { Durability, FileSystem };

export interface JsonlOptions {
  /** Default `full`: an append is on the disk when it returns. */
  readonly durability?: Durability;
  /** How long to wait for other processes before `LogBusy`, in milliseconds. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Default: a warning of the process. */
  readonly onNotice?: (notice: LogNotice) => void;
  /** The file functions to use, for tests. Default `node:fs`. */
  readonly fs?: FileSystem;
}

/**
 * A log in a directory: one file for each session, one line for each record. A call answers synchronously, or with a
 * promise while another process writes to the same session. Several processes of one machine may share the directory; it
 * must be on a local disk. What the log creates is readable by its owner only. Where this process may only read, reading
 * works, and writing fails with `LogWrite`. Throws `InvalidOption` if `directory` is not a path.
 */
export function jsonlLog(directory: string, options: JsonlOptions = {}): EventLog {
  checkPlace("jsonlLog", "the path of a directory", directory, options);
  const { durability = "full", busyTimeoutMs = 5_000, onNotice = warn, fs = nodeFileSystem } = options;
  return new JsonlLog(
    new JsonlDirectory(resolve(directory), new Files(fs, durability), { busyTimeoutMs, onNotice }),
  );
}

class JsonlLog implements EventLog {
  readonly name = "jsonl";
  readonly #directory: JsonlDirectory;
  readonly #watch: HeadWatch;

  constructor(directory: JsonlDirectory) {
    this.#directory = directory;
    this.#watch = watchDirectory(directory.path, (name) => directory.pathOf(name));
  }

  create(id: string, header: string): MaybePromise<SessionLog> {
    const name = fileNameOf(validId(id));
    const line: HeaderLine = { id, life: newLife(), header: validHeader(header) };
    const { files, path } = this.#directory;
    const create = (): SessionLog => {
      if (this.#living(name, id) !== undefined) throw logExists(id);
      const text = headerToLine(line);
      files.replaceDurably(this.#directory.pathOf(name), text);
      return this.#handle({ ...line, name, header, headerLength: Buffer.byteLength(text) });
    };
    return this.#run("create a session", name, () => {
      files.makeDirectory(path);
      return this.#directory.withLock(name, create);
    });
  }

  open(id: string): MaybePromise<SessionLog | undefined> {
    const name = fileNameOf(validId(id));
    return this.#run("open a session", name, () => {
      const life = this.#living(name, id);
      return life === undefined ? undefined : this.#handle(life);
    });
  }

  list(): MaybePromise<readonly LogInfo[]> {
    const { path } = this.#directory;
    return this.#directory.run("list the sessions", path, () => listed(this.#directory));
  }

  remove(id: string): MaybePromise<boolean> {
    const name = fileNameOf(validId(id));
    const path = this.#directory.pathOf(name);
    const { files } = this.#directory;
    const remove = (): boolean => {
      const life = this.#removable(name, id);
      if (life === undefined) return false;
      files.replaceDurably(path, headerToLine({ id, life, header: undefined }));
      files.remove(this.#directory.pathOf(name, leaseExtension));
      files.remove(this.#directory.pathOf(name, snapshotExtension));
      return true;
    };
    return this.#run("remove a session", name, () => {
      if (files.withFile(path, "r", () => true) === undefined) return false;
      return andThen(this.#directory.withLock(name, remove), (isRemoved) => {
        if (isRemoved) this.#watch.notify(name);
        return isRemoved;
      });
    });
  }

  close(): void {
    this.#watch.close();
    this.#directory.close();
  }

  #run<T>(what: string, name: string, operation: () => MaybePromise<T>): MaybePromise<T> {
    return this.#directory.run(what, this.#directory.pathOf(name), operation);
  }

  #handle(life: Life): SessionLog {
    return new JsonlSession(this.#directory, life, this.#watch);
  }

  /** What names the life that ends: a damaged file, too, can be removed. */
  #removable(name: string, id: string): string | undefined {
    try {
      return this.#living(name, id)?.life;
    } catch (error) {
      if (error instanceof LogError && error.code === "LogCorrupt") return newLife();
      throw error;
    }
  }

  /** The life of an id that its file tells of; undefined without file, or when it is a tombstone. */
  #living(name: string, id: string): Life | undefined {
    const { files } = this.#directory;
    return files.withFile(this.#directory.pathOf(name), "r", (fd) => {
      const { line, length } = readHeader(files, fd);
      if (line.id !== id) throw damagedHeader();
      return line.header === undefined
        ? undefined
        : { id, name, life: line.life, header: line.header, headerLength: length };
    });
  }
}

const newLife = (): string => randomBytes(16).toString("base64url");
