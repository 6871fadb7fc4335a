import type { EventLog, LogRecord } from "@moora/event-log";
import { indexedDbLog, type IndexedDbOptions } from "@moora/event-log/indexeddb";
import type { LogStorage } from "@moora/event-log/testing";

type Stored = LogRecord & { readonly generation: number };

/** Waits also for a database whose connections still end: one that never ends fails its test by the time of that. */
const resultOf = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("The request failed.")));
  });

/** A database of its own for each case, in a browser or in an imitation of its IndexedDB. */
export function indexedDbStorage(options: IndexedDbOptions = {}): LogStorage {
  const name = `log-${crypto.randomUUID()}`;
  const logs: EventLog[] = [];
  const open = (): EventLog => {
    const log = indexedDbLog(name, { onNotice: () => undefined, ...options });
    logs.push(log);
    return log;
  };
  /** Changes the rows of a session as no log does. */
  const change = async (
    store: "sessions" | "records" | "snapshots",
    id: string,
    edit: (rows: IDBObjectStore, generation: number) => Promise<unknown>,
  ): Promise<void> => {
    const database = await resultOf(indexedDB.open(name));
    const transaction = database.transaction(["sessions", store], "readwrite");
    const key = await resultOf(transaction.objectStore("sessions").index("id").getKey(id));
    await edit(transaction.objectStore(store), Number(key));
    await new Promise((resolve) => transaction.addEventListener("complete", resolve));
    database.close();
  };
  return {
    open,
    reopen: open,
    async dispose() {
      for (const log of logs.splice(0)) await log.close();
      await resultOf(indexedDB.deleteDatabase(name));
    },
    rewrite: (id, edit) =>
      change("records", id, async (rows, generation) => {
        const range = IDBKeyRange.bound([generation, 0], [generation, Infinity]);
        const stored = (await resultOf(rows.getAll(range))) as readonly Stored[];
        const records = stored.map(({ seq, body, changesDigest, digest }) => ({
          seq,
          body,
          changesDigest,
          digest,
        }));
        rows.delete(range);
        for (const record of edit(records)) rows.put({ generation, ...record });
      }),
    damageHeader: (id) =>
      change("sessions", id, async (rows, generation) => {
        rows.put({ ...(await resultOf(rows.get(generation))), header: "{}" });
      }),
    damageSnapshot: (id) =>
      change("snapshots", id, async (rows, generation) => {
        const row = await resultOf(rows.get(generation));
        rows.put({ ...row, body: `${row.body}x` });
      }),
    async raiseFormat() {
      const database = await resultOf(indexedDB.open(name, 3));
      database.close();
    },
  };
}
