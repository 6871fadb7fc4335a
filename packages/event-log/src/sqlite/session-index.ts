import { setImmediate } from "node:timers/promises";
import { afterKeysOf, callerToKey, headerToKeys, userToKey } from "../header-fields.ts";
import { callsOf, pageOf } from "../list-sessions.ts";
import type { LogInfo, MaybePromise, PageQuery } from "../port.ts";
import { sortById } from "../rows.ts";
import { andThen } from "../maybe-promise.ts";
import type { Connection, Row } from "./connection.ts";

const columns = "SELECT id, header, head FROM moora_sessions";
const pageOfUser = `SELECT * FROM (${columns} WHERE user_key = ? AND id > ? ORDER BY id LIMIT ?)`;

const sql = {
  list: columns,
  page: `${columns} WHERE id > ? ORDER BY id LIMIT ?`,
  called: `${columns} WHERE caller_key >= ? AND caller_key < ? ORDER BY id`,
  withoutKeys: "SELECT generation, header FROM moora_sessions WHERE user_key IS NULL LIMIT 200",
  setKeys: "UPDATE moora_sessions SET user_key = ?, caller_key = ? WHERE generation = ?",
} as const;

/** The sessions of a database, listed by the keys in their rows. A database that is only read is listed without them. */
export class SessionIndex {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  list(): MaybePromise<readonly LogInfo[]> {
    return andThen(this.#all("list the sessions", sql.list), sortById);
  }

  async page(query: PageQuery): Promise<readonly LogInfo[]> {
    const { users, after = "", limit } = query;
    const what = "list a page of sessions";
    if (users === undefined) return this.#all(what, sql.page, after, limit);
    if (!(await this.#hasKeys())) return pageOf(await this.list(), query);
    const keys = [...new Set(users.map(userToKey))];
    if (keys.length === 0) return [];
    const pages = keys.map(() => pageOfUser).join(" UNION ALL ");
    const values = keys.flatMap((key) => [key, after, limit]);
    return this.#all(what, `${pages} ORDER BY id LIMIT ?`, ...values, limit);
  }

  async called(prefix: string): Promise<readonly LogInfo[]> {
    if (!(await this.#hasKeys())) return callsOf(await this.list(), prefix);
    const key = callerToKey(prefix);
    const infos = await this.#all("list the called sessions", sql.called, key, afterKeysOf(key));
    return callsOf(infos, prefix);
  }

  /** Computes the keys of sessions that earlier releases created. Returns false if this process may not write them. */
  async #hasKeys(): Promise<boolean> {
    const what = "index the sessions";
    if (await this.#connection.run(what, () => this.#connection.isReadOnly)) return false;
    for (;;) {
      const rows = await this.#connection.run(what, () => this.#connection.all(sql.withoutKeys));
      if (rows.length === 0) return true;
      await this.#connection.write(what, this.#connection.epoch, () => this.#setKeys(rows));
      // Many sessions take seconds, during which this process does other work too.
      await setImmediate();
    }
  }

  #setKeys(rows: readonly Row[]): void {
    for (const row of rows) {
      const { user, caller } = headerToKeys(String(row["header"]));
      this.#connection.do(sql.setKeys, user, caller, Number(row["generation"]));
    }
  }

  #all(
    what: string,
    statement: string,
    ...values: readonly (string | number)[]
  ): MaybePromise<readonly LogInfo[]> {
    return andThen(
      this.#connection.run(what, () => this.#connection.all(statement, ...values)),
      (rows) => rows.map(rowToInfo),
    );
  }
}

const rowToInfo = (row: Row): LogInfo => ({
  id: String(row["id"]),
  head: Number(row["head"]),
  header: String(row["header"]),
});
