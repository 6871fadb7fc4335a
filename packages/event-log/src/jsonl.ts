import nodeFileSystem from "node:fs";
import { resolve } from "node:path";
import { errorCode } from "./error-code.ts";
import { jsonlBlobs } from "./jsonl/blobs.ts";
import { fileNameOf } from "./jsonl/file-name.ts";
import type { FileSystem } from "./jsonl/file-system.ts";
import { type Durability, Files, logFailure, readOnlyCodes } from "./jsonl/files.ts";
import { isDamage, JsonlFolder } from "./jsonl/folder.ts";
import { lockFolder } from "./jsonl/lock-folder.ts";
import { JsonlSession } from "./jsonl/session.ts";
import { leaseAfter } from "./lease.ts";
import { LogError } from "./log-error.ts";
import type { BlobStore, DisposableLog, LeaseClaim, LogInfo, LogNotice, SessionLog } from "./port.ts";
import { sortById } from "./rows.ts";
import { optionForms, validateOptions, type OptionForms } from "./validate-options.ts";
import { validateLocation, logExists, validHeader, validId } from "./validation.ts";
import { warn } from "./warn.ts";

export type { Durability, FileSystem };

/** Options of {@link jsonlLog}. */
export interface JsonlOptions {
  /** Default `full`: an append is on the disk when it returns. */
  readonly durability?: Durability;
  /** Called with notices about skipped data. Default: emits a process warning. */
  readonly onNotice?: (notice: LogNotice) => void;
  /** The file functions to use; for tests, which own the folder. Default: `node:fs`, and a lock of the folder. */
  readonly fs?: FileSystem;
}

const jsonlForms: OptionForms<JsonlOptions> = {
  durability: optionForms.durability,
  onNotice: optionForms.function,
  fs: optionForms.object,
};

/**
 * A log in a directory: one file for each session, one line for each record. It belongs to one process, and there to one log: opened
 * again before `close` or the end of that process, it throws `LogBusy`. Use `sqliteLog` for several processes. All calls but `inspect`
 * and `checkUpTo` are synchronous. The directory must be on a local disk and is created if it does not exist. Only the user that creates
 * the files can read them. A process that lacks write permission can read, also while another one writes, and does not see what is added
 * after it has first read a session; its writes fail with `LogWrite`. Throws `InvalidOption` if `directory` is not a path, or an option
 * is unknown or of the wrong form, and `UnsupportedRuntime` before Node.js 22.13.
 */
export function jsonlLog(directory: string, options: JsonlOptions = {}): DisposableLog {
  validateLocation("jsonlLog", "the path of a directory", directory);
  validateOptions("jsonlLog", options, jsonlForms);
  const { durability = "full", onNotice = warn, fs } = options;
  const path = resolve(directory);
  const files = new Files(fs ?? nodeFileSystem, durability);
  const unlock = fs === undefined ? takeFolder(path, files) : () => undefined;
  return new JsonlLog(new JsonlFolder(path, files, onNotice, unlock));
}

/** Creates the folder and takes its lock. A process that may not create it reads an empty log. */
function takeFolder(path: string, files: Files): () => void {
  try {
    files.makeDirectory(path);
  } catch (error) {
    if (!readOnlyCodes.has(errorCode(error))) throw logFailure("create its folder", path, error);
  }
  return lockFolder(path);
}

class JsonlLog implements DisposableLog {
  readonly name = "jsonl";
  readonly #folder: JsonlFolder;
  readonly blobs: BlobStore;

  constructor(folder: JsonlFolder) {
    this.blobs = jsonlBlobs(folder);
    this.#folder = folder;
  }

  create(id: string, header: string, claim?: LeaseClaim): SessionLog {
    const folder = this.#folder;
    const text = validHeader(header);
    return this.#run("create a session", id, () => {
      if (folder.session(id) !== undefined) throw logExists(id);
      folder.files.makeDirectory(folder.path);
      const file = folder.create(id, text, (created) => {
        // Before the session can be seen. If this process ends here, the lease is of a generation that never existed.
        if (claim !== undefined) created.saveFirstLease(leaseAfter(undefined, claim));
      });
      return new JsonlSession(folder, file);
    });
  }

  open(id: string): SessionLog | undefined {
    return this.#run("open a session", id, () => {
      const file = this.#folder.session(id);
      return file === undefined ? undefined : new JsonlSession(this.#folder, file);
    });
  }

  list(): readonly LogInfo[] {
    const { path, files } = this.#folder;
    return this.#folder.run("list the sessions", path, () =>
      sortById(files.names(path).flatMap((file) => (file.endsWith(".jsonl") ? this.#infoOf(file) : []))),
    );
  }

  remove(id: string): boolean {
    return this.#run("remove a session", id, () => {
      try {
        if (this.#folder.session(id) === undefined) return false;
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
      this.#folder.remove(fileNameOf(id));
      return true;
    });
  }

  close(): void {
    this.#folder.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** None for a file that shows that its session was removed, and, with a notice, for one that cannot be read. */
  #infoOf(file: string): readonly LogInfo[] {
    try {
      const session = this.#folder.read(file.slice(0, -".jsonl".length));
      if (session === undefined) return [];
      const { id, header } = session.generation;
      return [{ id, header, head: session.content().head.seq }];
    } catch (error) {
      if (!(error instanceof LogError || unreadableCodes.has(errorCode(error)))) throw error;
      this.#folder.onNotice({ type: "unreadable-session", id: file, afterSeq: 0, droppedBytes: 0 });
      return [];
    }
  }

  #run<T>(what: string, id: string, operation: () => T): T {
    return this.#folder.run(what, this.#folder.pathOf(fileNameOf(validId(id))), operation);
  }
}

/** The error codes that concern one file only. */
const unreadableCodes: ReadonlySet<unknown> = new Set(["EACCES", "EISDIR", "EPERM"]);
