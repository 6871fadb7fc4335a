import type { LogInfo, PageQuery } from "@moora/event-log";
import { afterKeysOf, callsOf, callerToKey, headerToKeys, sortById, userToKey } from "@moora/event-log/store";
import type { Database, Row } from "./database.ts";
import { storedToText, textToStored } from "./stored-text.ts";

/** The sessions of a database, listed by the keys in their rows. */
export class SessionIndex {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async list(): Promise<readonly LogInfo[]> {
    return sortById(await this.#infos("list the sessions", this.#database.statements.list));
  }

  async page({ users, after = "", limit }: PageQuery): Promise<readonly LogInfo[]> {
    await this.#addKeys();
    const what = "list a page of sessions";
    const { page, pageOfUsers } = this.#database.statements;
    if (users === undefined) return this.#infos(what, page, textToStored(after), limit);
    const keys = [...new Set(users.map(userToKey))];
    return this.#infos(what, pageOfUsers, keys, textToStored(after), limit);
  }

  async called(prefix: string): Promise<readonly LogInfo[]> {
    await this.#addKeys();
    const key = callerToKey(prefix);
    const { called } = this.#database.statements;
    return callsOf(await this.#infos("list the called sessions", called, key, afterKeysOf(key)), prefix);
  }

  /** Computes the keys of sessions that earlier releases created. */
  async #addKeys(): Promise<void> {
    const { withoutKeys, setKeys } = this.#database.statements;
    await this.#database.run("index the sessions", async (query) => {
      for (;;) {
        const rows = await query(withoutKeys);
        if (rows.length === 0) return;
        const keys = rows.map((row) => headerToKeys(storedToText(String(row["header"]))));
        const generations = rows.map((row) => row["generation"]);
        await query(
          setKeys,
          generations,
          keys.map(({ user }) => user),
          keys.map(({ caller }) => caller),
        );
      }
    });
  }

  async #infos(what: string, sql: string, ...values: readonly unknown[]): Promise<readonly LogInfo[]> {
    return (await this.#database.rows(what, sql, ...values)).map(rowToInfo);
  }
}

const rowToInfo = (row: Row): LogInfo => ({
  id: storedToText(String(row["id"])),
  head: Number(row["head"] ?? 0),
  header: storedToText(String(row["header"])),
});
