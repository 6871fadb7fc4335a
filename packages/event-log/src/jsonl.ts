import { randomBytes } from "node:crypto";
import nodeFileSystem from "node:fs";
import { resolve } from "node:path";
import { checkedHeader, checkedId, logExists } from "./admission.ts";
import { JsonlDirectory } from "./jsonl/directory.ts";
import { fileNameOf, leaseExtension, snapshotExtension } from "./jsonl/file-name.ts";
import type { FileSystem } from "./jsonl/file-system.ts";
import { FileWatches } from "./jsonl/file-watches.ts";
import { type Durability, Files } from "./jsonl/files.ts";
import { readHeader } from "./jsonl/head-of-file.ts";
import { damagedHeader, type HeaderLine, headerToLine } from "./jsonl/header-line.ts";
import { listed } from "./jsonl/listing.ts";
import { JsonlSession } from "./jsonl/session.ts";
import { type Life, SessionFile } from "./jsonl/session-file.ts";
import { LogError } from "./log-error.ts";
import type { EventLog, LogNotice, SessionLog } from "./port.ts";
import { warn } from "./warn.ts";

export type { Durability, FileSystem };

export interface JsonlOptions {
  /** Default `full`: an append is on the disk when it returns. */
  readonly durability?: Durability;
  /** How long to wait for other processes before `LogBusy`. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Default: a warning of the process. */
  readonly onNotice?: (notice: LogNotice) => void;
  /** The file functions to use, for tests. Default `node:fs`. */
  readonly fs?: FileSystem;
}

/**
 * A log in a directory: one file a session, one line a record. Every call is synchronous. Several processes of one
 * machine may share the directory; it must be on a local disk.
 */
export function jsonlLog(directory: string, options: JsonlOptions = {}): EventLog {
  const { durability = "full", busyTimeoutMs = 5_000, onNotice = warn, fs = nodeFileSystem } = options;
  return new JsonlLog(
    new JsonlDirectory(resolve(directory), new Files(fs, durability), { busyTimeoutMs, onNotice }),
  );
}

class JsonlLog implements EventLog {
  readonly name = "jsonl";
  readonly #directory: JsonlDirectory;
  readonly #watches: FileWatches;

  constructor(directory: JsonlDirectory) {
    this.#directory = directory;
    this.#watches = new FileWatches((name) => directory.pathOf(name));
  }

  create(id: string, header: string): SessionLog {
    const name = fileNameOf(checkedId(id));
    const line: HeaderLine = {
      id,
      life: newLife(),
      header: checkedHeader(header),
    };
    return this.#directory.run("create", () => {
      const { files, path } = this.#directory;
      files.makeDirectory(path);
      return this.#directory.withLock(name, () => {
        if (this.#living(name, id) !== undefined) throw logExists(id);
        const text = headerToLine(line);
        files.replaceDurably(this.#directory.pathOf(name), text);
        return this.#handle({ ...line, name, header, headerLength: Buffer.byteLength(text) });
      });
    });
  }

  open(id: string): SessionLog | undefined {
    const name = fileNameOf(checkedId(id));
    return this.#directory.run("open", () => {
      const { files } = this.#directory;
      const path = this.#directory.pathOf(name);
      if (files.withFile(path, "r", () => true) === undefined) return undefined;
      return this.#directory.withLock(name, () => {
        const life = this.#living(name, id);
        if (life === undefined) return undefined;
        const file = new SessionFile(this.#directory, life);
        files.withFile(path, "r+", (fd) => file.find(fd));
        return new JsonlSession(this.#directory, file, this.#watches);
      });
    });
  }

  list() {
    return this.#directory.run("list", () => listed(this.#directory));
  }

  remove(id: string): boolean {
    const name = fileNameOf(checkedId(id));
    return this.#directory.run("remove", () => {
      const { files } = this.#directory;
      if (files.withFile(this.#directory.pathOf(name), "r", () => true) === undefined) return false;
      return this.#directory.withLock(name, () => {
        const life = this.#removable(name, id);
        if (life === undefined) return false;
        const tombstone = headerToLine({ id, life, header: undefined });
        files.replaceDurably(this.#directory.pathOf(name), tombstone);
        files.remove(this.#directory.pathOf(name, leaseExtension));
        files.remove(this.#directory.pathOf(name, snapshotExtension));
        this.#watches.notify(name);
        return true;
      });
    });
  }

  close(): void {
    this.#watches.close();
    this.#directory.close();
  }

  #handle(life: Life): SessionLog {
    return new JsonlSession(this.#directory, new SessionFile(this.#directory, life), this.#watches);
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
