import nodeFileSystem, {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { EventLog, LogNotice } from "@moora/event-log";
import { jsonlLog, type JsonlOptions } from "@moora/event-log/jsonl";
import { fileNameOf } from "../../packages/event-log/src/jsonl/file-name.ts";
import { sealLine } from "../../packages/event-log/src/jsonl/header-line.ts";
import { lineToRecord, recordToLine } from "../../packages/event-log/src/jsonl/record-line.ts";
import { sqliteLog, type SqliteOptions } from "@moora/event-log/sqlite";
import { SharedLog } from "./shared-log.ts";
import { type Ability, type LogCase, type LogStorage, memoryLogStorage } from "@moora/event-log/testing";

/** A temporary directory of a test, removed at its end. */
export class TemporaryDirectory implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), "moora-log-"));

  file(name: string): string {
    return join(this.path, name);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

const optionalParts = ["page", "called", "due", "blobs", "live"] as const;

/** The optional parts that a log has: the conformance suite passes without them. */
export const optionalPartsOf = (log: EventLog): readonly string[] =>
  optionalParts.filter((name) => log[name] !== undefined);

/** Ignores notices that a test expects. */
export const noNotice = (_notice: LogNotice): void => undefined;

/** The logs that a storage has opened, which are closed with it. */
class OpenLogs {
  readonly #logs: EventLog[] = [];

  add(log: EventLog): EventLog {
    this.#logs.push(log);
    return log;
  }

  async close(): Promise<void> {
    for (const log of this.#logs.splice(0)) await log.close();
  }
}

export const pathOf = (directory: string, id: string): string => join(directory, `${fileNameOf(id)}.jsonl`);

/** The lines of a file, without the line break after the last. */
export const linesOf = (path: string): string[] => readFileSync(path, "utf8").split("\n").slice(0, -1);

export const writeLines = (path: string, lines: readonly string[]): void =>
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));

export function jsonlStorage(options: JsonlOptions = {}): LogStorage {
  const temporary = new TemporaryDirectory();
  const openLogs = new OpenLogs();
  // With file functions of its own, a log has no lock: a reopened one runs beside the one that was killed.
  const fs = { ...nodeFileSystem };
  const newOwner = (): SharedLog =>
    new SharedLog(() => jsonlLog(temporary.path, { onNotice: noNotice, fs, ...options }));
  let owner = newOwner();
  const edit = (id: string, change: (lines: readonly string[]) => readonly string[]): void =>
    writeLines(pathOf(temporary.path, id), change(linesOf(pathOf(temporary.path, id))));
  return {
    open: () => openLogs.add(owner.open()),
    reopen() {
      owner = newOwner();
      return openLogs.add(owner.open());
    },
    async dispose() {
      await openLogs.close();
      temporary[Symbol.dispose]();
    },
    rewrite(id, change) {
      edit(id, ([header = "", ...lines]) => {
        const places = lines.map((line) => lineToRecord(line));
        const records = change(places.flatMap((line) => (line === undefined ? [] : [line.record])));
        const text = records.map((record, index) =>
          recordToLine({ at: 1, of: 1, ...places[index], record }).slice(0, -1),
        );
        return [header, ...text];
      });
    },
    damageHeader(id) {
      edit(id, ([header = "", ...lines]) => [header.replace('"header":{', '"header":['), ...lines]);
    },
    damageSnapshot(id) {
      const path = join(temporary.path, `${fileNameOf(id)}.snapshot`);
      const bytes = readFileSync(path);
      const at = bytes.length - 12;
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      writeFileSync(path, bytes);
    },
    raiseFormat(id) {
      edit(id, ([header = "", ...lines]) => [newerFormat(header), ...lines]);
    },
  };
}

/** The first line of a file as a newer release may write it. */
export const newerFormat = (header: string): string =>
  sealLine(header.replace('"format":1', '"format":2').replace(/,"digest":"[^"]*"\}$/, "")).slice(0, -1);

export function sqliteStorage(options: SqliteOptions = {}): LogStorage {
  const temporary = new TemporaryDirectory();
  const openLogs = new OpenLogs();
  const file = temporary.file("log.db");
  const open = (): EventLog => openLogs.add(sqliteLog(file, { onNotice: noNotice, ...options }));
  const change = (id: string, use: (database: DatabaseSync, generation: number) => void): void => {
    const database = new DatabaseSync(file, { timeout: 5_000 });
    const row = database.prepare("SELECT generation FROM moora_sessions WHERE id = ?").get(id);
    use(database, Number(row?.["generation"]));
    database.close();
  };
  return {
    open,
    reopen: open,
    async dispose() {
      await openLogs.close();
      temporary[Symbol.dispose]();
    },
    rewrite(id, edit) {
      change(id, (database, generation) => {
        const records = database
          .prepare(
            "SELECT seq, body, changes_digest, digest FROM moora_records WHERE generation = ? ORDER BY seq",
          )
          .all(generation)
          .map(({ seq, body, changes_digest: changesDigest, digest }) => ({
            seq: Number(seq),
            body: String(body),
            changesDigest: String(changesDigest),
            digest: String(digest),
          }));
        database.prepare("DELETE FROM moora_records WHERE generation = ?").run(generation);
        const insert = database.prepare("INSERT INTO moora_records VALUES (?, ?, ?, ?, ?)");
        for (const { seq, changesDigest, digest, body } of edit(records))
          insert.run(generation, seq, changesDigest, digest, body);
      });
    },
    damageHeader(id) {
      change(id, (database, generation) => {
        database.prepare("UPDATE moora_sessions SET header = '{}' WHERE generation = ?").run(generation);
      });
    },
    damageSnapshot(id) {
      change(id, (database, generation) => {
        database
          .prepare("UPDATE moora_snapshots SET body = body || 'x' WHERE generation = ?")
          .run(generation);
      });
    },
    raiseFormat() {
      change("", (database) => database.exec("UPDATE moora_format SET version = 2"));
    },
  };
}

/** A store of this package: how to create storage for a case, and the abilities of that storage. */
export interface Store {
  readonly name: string;
  readonly storageOf: () => LogStorage;
  readonly abilities: readonly Ability[];
}

export const everything: readonly Ability[] = ["rewrite", "damageHeader", "damageSnapshot", "raiseFormat"];

export const stores: readonly Store[] = [
  { name: "memory", storageOf: () => memoryLogStorage(), abilities: ["rewrite", "damageHeader"] },
  { name: "jsonl", storageOf: () => jsonlStorage(), abilities: everything },
  { name: "sqlite", storageOf: () => sqliteStorage(), abilities: everything },
];

export const relaxedStores: readonly Store[] = [
  {
    name: "relaxed jsonl",
    storageOf: () => jsonlStorage({ durability: "relaxed" }),
    abilities: everything,
  },
  {
    name: "relaxed sqlite",
    storageOf: () => sqliteStorage({ durability: "relaxed" }),
    abilities: everything,
  },
];

/** Runs a case on its own storage. */
export async function checkCase({ run }: LogCase, storage: LogStorage): Promise<void> {
  try {
    await run(storage);
  } finally {
    await storage.dispose();
  }
}

/** Copies a directory. */
export function copyDirectory(directory: string): TemporaryDirectory {
  const temporary = new TemporaryDirectory();
  for (const name of readdirSync(directory))
    if (!name.startsWith(".lock")) cpSync(join(directory, name), temporary.file(name));

  return temporary;
}
