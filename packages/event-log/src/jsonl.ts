import { randomBytes } from "node:crypto";
import nodeFileSystem from "node:fs";
import { resolve } from "node:path";
import { optionForms, validateOptions, type OptionForms } from "./validate-options.ts";
import { validateLocation, logExists, validHeader, validId } from "./validation.ts";
import type { HeadWatch } from "./head-watch.ts";
import { JsonlBlobs } from "./jsonl/blobs.ts";
import { JsonlDirectory } from "./jsonl/directory.ts";
import { watchDirectory } from "./jsonl/directory-watch.ts";
import { fileNameOf } from "./jsonl/file-name.ts";
import type { FileStat, FileStatOptions, FileSystem } from "./jsonl/file-system.ts";
import { type Durability, Files } from "./jsonl/files.ts";
import { readHeader } from "./jsonl/header-and-end.ts";
import { damagedHeader, type HeaderLine, headerToLine } from "./jsonl/header-line.ts";
import { listSessions } from "./jsonl/listing.ts";
import { JsonlSession, leaseFile } from "./jsonl/session.ts";
import type { Generation } from "./jsonl/session-file.ts";
import { leaseAfter } from "./lease.ts";
import { LogError } from "./log-error.ts";
import { andThen } from "./maybe-promise.ts";
import type {
  BlobStore,
  DisposableLog,
  LeaseClaim,
  LogInfo,
  LogNotice,
  MaybePromise,
  SessionLog,
} from "./port.ts";
import { warn } from "./warn.ts";

export type { Durability, FileStat, FileStatOptions, FileSystem };

/** Options of {@link jsonlLog}. */
export interface JsonlOptions {
  /** Default `full`: an append is on the disk when it returns. */
  readonly durability?: Durability;
  /** How long to wait for other processes before `LogBusy`, in milliseconds. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Called with notices about skipped data. Default: emits a process warning. */
  readonly onNotice?: (notice: LogNotice) => void;
  /** The file functions to use; for tests. Default: `node:fs`. */
  readonly fs?: FileSystem;
}

const jsonlForms: OptionForms<JsonlOptions> = {
  durability: optionForms.durability,
  busyTimeoutMs: optionForms.milliseconds,
  onNotice: optionForms.function,
  fs: optionForms.object,
};

/**
 * A log in a directory: one file for each session, one line for each record. A call returns synchronously, or returns a
 * promise while another process writes to the same session. Processes of one machine may share the directory, which must be on
 * a local disk and is created if it does not exist. Only the user that creates the files can read them. A process that lacks
 * write permission can read; its writes fail with `LogWrite`. Throws `InvalidOption` if `directory` is not a
 * path, or an option is unknown or of the wrong form.
 */
export function jsonlLog(directory: string, options: JsonlOptions = {}): DisposableLog {
  validateLocation("jsonlLog", "the path of a directory", directory);
  validateOptions("jsonlLog", options, jsonlForms);
  const { durability = "full", busyTimeoutMs = 5_000, onNotice = warn, fs = nodeFileSystem } = options;
  return new JsonlLog(
    new JsonlDirectory(resolve(directory), new Files(fs, durability), { busyTimeoutMs, onNotice }),
  );
}

class JsonlLog implements DisposableLog {
  readonly name = "jsonl";
  readonly #directory: JsonlDirectory;
  readonly #watch: HeadWatch;
  readonly blobs: BlobStore;

  constructor(directory: JsonlDirectory) {
    this.blobs = new JsonlBlobs(directory);
    this.#directory = directory;
    this.#watch = watchDirectory(directory.path, (name) => directory.pathOf(name));
  }

  create(id: string, header: string, claim?: LeaseClaim): MaybePromise<SessionLog> {
    const name = fileNameOf(validId(id));
    const line: HeaderLine = { id, generation: newGeneration(), header: validHeader(header) };
    const lease = claim && leaseAfter(undefined, claim);
    const { files, path } = this.#directory;
    const create = (): SessionLog => {
      if (this.#generationOf(name, id) !== undefined) throw logExists(id);
      const text = headerToLine(line);
      // Before the session can be seen. If this process ends here, the lease is of a generation that never existed.
      if (lease !== undefined) leaseFile(this.#directory, { name, ...line }).saveDurably({ lease });
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
      const generation = this.#generationOf(name, id);
      return generation === undefined ? undefined : this.#handle(generation);
    });
  }

  list(): MaybePromise<readonly LogInfo[]> {
    const { path } = this.#directory;
    return this.#directory.run("list the sessions", path, () => listSessions(this.#directory));
  }

  remove(id: string): MaybePromise<boolean> {
    const name = fileNameOf(validId(id));
    const path = this.#directory.pathOf(name);
    const { files } = this.#directory;
    const remove = (): boolean => {
      const generation = this.#generationToRemove(name, id);
      if (generation === undefined) return false;
      this.#directory.removeSession({ id, name, generation });
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  #run<T>(what: string, name: string, operation: () => MaybePromise<T>): MaybePromise<T> {
    return this.#directory.run(what, this.#directory.pathOf(name), operation);
  }

  #handle(generation: Generation): SessionLog {
    return new JsonlSession(this.#directory, generation, this.#watch);
  }

  /** The generation to remove; a new one for a damaged file, so that it can be removed too. */
  #generationToRemove(name: string, id: string): string | undefined {
    try {
      return this.#generationOf(name, id)?.generation;
    } catch (error) {
      if (error instanceof LogError && error.code === "LogCorrupt") return newGeneration();
      throw error;
    }
  }

  /** The current generation of an id; undefined if there is no file, or the file is a tombstone. */
  #generationOf(name: string, id: string): Generation | undefined {
    const { files } = this.#directory;
    return files.withFile(this.#directory.pathOf(name), "r", (fd) => {
      const { line, length } = readHeader(files, fd);
      if (line.id !== id) throw damagedHeader();
      return line.header === undefined
        ? undefined
        : { id, name, generation: line.generation, header: line.header, headerLength: length };
    });
  }
}

const newGeneration = (): string => randomBytes(16).toString("base64url");
