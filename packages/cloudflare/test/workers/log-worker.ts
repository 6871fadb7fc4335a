import type { LogRecord } from "@moora/event-log";
import { type Ability, logConformance, type LogStorage } from "@moora/event-log/testing";
import { durableObjectLog, type ObjectState, type ObjectStorage } from "@moora/cloudflare";

const everything: readonly Ability[] = ["rewrite", "damageHeader", "damageSnapshot", "raiseFormat"];

/** The storage of an object as that of a case. */
function objectStorage(storage: ObjectStorage): LogStorage {
  const { sql } = storage;
  const generationOf = (id: string): number =>
    Number(sql.exec("SELECT generation FROM moora_sessions WHERE id = ?", id).toArray()[0]?.["generation"]);
  return {
    open: () => durableObjectLog(storage, { onNotice: () => undefined }),
    reopen: () => durableObjectLog(storage, { onNotice: () => undefined }),
    dispose: () => undefined,
    rewrite(id, edit) {
      const generation = generationOf(id);
      const rows = sql
        .exec("SELECT * FROM moora_records WHERE generation = ? ORDER BY seq", generation)
        .toArray();
      const records = rows.map((row): LogRecord => ({
        seq: Number(row["seq"]),
        body: row["body"] as string,
        changesDigest: row["changes_digest"] as string,
        digest: row["digest"] as string,
      }));
      sql.exec("DELETE FROM moora_records WHERE generation = ?", generation);
      for (const { seq, body, changesDigest, digest } of edit(records)) {
        const values = [generation, seq, changesDigest, digest, body] as const;
        sql.exec("INSERT INTO moora_records VALUES (?, ?, ?, ?, ?)", ...values);
      }
    },
    damageHeader: (id) =>
      void sql.exec("UPDATE moora_sessions SET header = '{}' WHERE generation = ?", generationOf(id)),
    damageSnapshot: (id) =>
      void sql.exec("UPDATE moora_snapshots SET body = body || 'x' WHERE generation = ?", generationOf(id)),
    raiseFormat: () => void sql.exec("UPDATE moora_format SET version = 2"),
  };
}

/** An object in which one case of the conformance suite of logs runs. */
export class LogCase {
  readonly #storage: ObjectStorage;

  constructor({ storage }: ObjectState) {
    this.#storage = storage;
  }

  async fetch(request: Request): Promise<Response> {
    const name = await request.text();
    try {
      await logConformance(everything)
        .find((logCase) => logCase.name === name)
        ?.run(objectStorage(this.#storage));
      return new Response("ok");
    } catch (error) {
      return new Response(error instanceof Error ? String(error.stack) : String(error), { status: 500 });
    }
  }
}

interface Env {
  readonly CASES: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

export default {
  fetch: (request: Request, { CASES }: Env): Promise<Response> =>
    CASES.getByName(new URL(request.url).pathname).fetch(request),
};
