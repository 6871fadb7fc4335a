import type { EventLog, LogRecord } from "@moora/event-log";
import type { LogStorage } from "@moora/event-log/testing";
import type pg from "pg";
import { postgresLog } from "@moora/event-log-postgres";
import { storedToText, textToStored } from "../../../packages/event-log-postgres/src/stored-text.ts";

/** Uses the tables of a server as storage for one case after another; `dispose` empties them. */
export function postgresStorage(pool: pg.Pool, url: string): LogStorage {
  const opened: EventLog[] = [];
  const open = (source: pg.Pool | string): EventLog => {
    const log = postgresLog(source, { onNotice: () => undefined });
    opened.push(log);
    return log;
  };
  const generationOf = async (id: string): Promise<unknown> => {
    const { rows } = await pool.query("SELECT generation FROM moora_sessions WHERE id = $1", [
      textToStored(id),
    ]);
    return rows[0].generation;
  };
  return {
    open: () => open(pool),
    reopen: () => open(url),
    async dispose() {
      for (const log of opened.splice(0)) await log.close();
      await pool.query("DELETE FROM moora_sessions; UPDATE moora_format SET version = 1");
    },
    async rewrite(id, edit) {
      const generation = await generationOf(id);
      const stored = await pool.query("SELECT * FROM moora_records WHERE generation = $1 ORDER BY seq", [
        generation,
      ]);
      await pool.query("DELETE FROM moora_records WHERE generation = $1", [generation]);
      for (const { seq, changesDigest, digest, body } of edit(stored.rows.map(rowToRecord))) {
        const values = [generation, seq, textToStored(changesDigest), digest, textToStored(body)];
        await pool.query("INSERT INTO moora_records VALUES ($1, $2, $3, $4, $5)", values);
      }
    },
    async damageHeader(id) {
      await pool.query("UPDATE moora_sessions SET header = '{}' WHERE generation = $1", [
        await generationOf(id),
      ]);
    },
    async damageSnapshot(id) {
      await pool.query("UPDATE moora_snapshots SET body = body || 'x' WHERE generation = $1", [
        await generationOf(id),
      ]);
    },
    async raiseFormat() {
      await pool.query("UPDATE moora_format SET version = 2");
    },
  };
}

const rowToRecord = (row: Readonly<Record<string, unknown>>): LogRecord => ({
  seq: Number(row["seq"]),
  body: storedToText(String(row["body"])),
  changesDigest: storedToText(String(row["changes_digest"])),
  digest: String(row["digest"]),
});
