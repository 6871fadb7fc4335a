import type pg from "pg";
import type { NamedQuery, PostgresPool, PostgresResult } from "../src/index.ts";

type Send = (text: string, values?: unknown[]) => Promise<PostgresResult>;

/** A pool whose connections send statements in another way. */
export function altered(
  pool: pg.Pool,
  send: (query: Send, statement: string | NamedQuery, values?: unknown[]) => Promise<PostgresResult>,
): PostgresPool {
  return {
    async connect() {
      const client = await pool.connect();
      const query: Send = async (text, values) => client.query(text, values);
      return new Proxy(client, {
        get(target, name) {
          if (name === "query")
            return (statement: string | NamedQuery, values?: unknown[]) => send(query, statement, values);
          const value: unknown = Reflect.get(target, name);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    },
    on: (event, listener) => pool.on(event, listener),
    off: (event, listener) => pool.off(event, listener),
    end: async () => pool.end(),
  };
}
