import nodeFileSystem, { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryLog, MemoryStorage, type EventLog, type LogNotice } from "@moora/event-log";
import { jsonlLog, type JsonlOptions } from "@moora/event-log/jsonl";
import { SharedLog } from "../shared-log.ts";
import { sqliteLog, type SqliteOptions } from "@moora/event-log/sqlite";

/** A directory of a test's own, removed with it. */
export class Place implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), "moora-session-"));

  file(name: string): string {
    return join(this.path, name);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Notices that a test expects, or wants to know nothing of. */
export const onNotice = (_notice: LogNotice): void => undefined;

export type StoreName = "memory" | "jsonl" | "sqlite";

export const storeNames: readonly StoreName[] = ["memory", "jsonl", "sqlite"];

/** A store that survives those who have it open: each `open` is as one more process, or part of the one process, would have it. */
export interface Storage extends AsyncDisposable {
  readonly name: StoreName;
  readonly place: Place;
  open(): EventLog;
}

/** A process is killed and not the machine: nothing is waited for that only a power cut could lose. */
export const hasty: JsonlOptions & SqliteOptions = {
  durability: "relaxed",
  fs: { ...nodeFileSystem, fsyncSync: () => undefined, fdatasyncSync: () => undefined },
};

/** A fresh storage. */
export function storageOf(name: StoreName, options: JsonlOptions & SqliteOptions = hasty): Storage {
  const place = new Place();
  const memory = new MemoryStorage();
  const opened: EventLog[] = [];
  const { fs: _, ...sqliteOptions } = { onNotice, ...options };
  const shared = new SharedLog(() => jsonlLog(place.path, { onNotice, ...options }));
  const openLog: Readonly<Record<StoreName, () => EventLog>> = {
    memory: () => memoryLog(memory),
    jsonl: () => shared.open(),
    sqlite: () => sqliteLog(place.file("log.db"), sqliteOptions),
  };
  return {
    name,
    place,
    open() {
      const log = openLog[name]();
      opened.push(log);
      return log;
    },
    async [Symbol.asyncDispose]() {
      for (const log of opened) await log.close();
      place[Symbol.dispose]();
    },
  };
}
