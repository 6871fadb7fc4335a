import type pg from "pg";
import type { NamedQuery, PostgresPool, PostgresResult } from "../src/index.ts";

/** Sends a statement on one connection. */
export type Send = (text: string, values?: unknown[]) => Promise<PostgresResult>;

/** Sends a statement in another way. `query` is the same function for all statements of a connection. */
type AlteredSend = (
  query: Send,
  statement: string | NamedQuery,
  values?: unknown[],
) => Promise<PostgresResult>;

/** A pool whose connections send statements in another way. */
export function altered(pool: pg.Pool, send: AlteredSend): PostgresPool {
  // A connection is one object, as that of a pool is, however often it is used.
  const clients = new WeakMap<pg.PoolClient, pg.PoolClient>();
  return {
    async connect() {
      const client = await pool.connect();
      const known = clients.get(client) ?? alteredClient(client, send);
      clients.set(client, known);
      return known;
    },
    on: (event, listener) => pool.on(event, listener),
    off: (event, listener) => pool.off(event, listener),
    end: async () => pool.end(),
  };
}

function alteredClient(client: pg.PoolClient, send: AlteredSend): pg.PoolClient {
  const query: Send = async (text, values) => client.query(text, values);
  return new Proxy(client, {
    get(target, name) {
      if (name === "query")
        return (statement: string | NamedQuery, values?: unknown[]) => send(query, statement, values);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
