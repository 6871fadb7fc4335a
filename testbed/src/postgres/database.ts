import { randomUUID } from "node:crypto";
import pg from "pg";

/** A database of PostgreSQL without tables, to be copied. */
export const withoutTables = "template1";

/** Creates a database on a server, and resolves with its address. */
export async function createDatabase(serverUrl: string, template: string = withoutTables): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "_")}`;
  await onServer(serverUrl, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`));
  return addressOf(serverUrl, name);
}

/** The address of a database on a server. */
export const addressOf = (serverUrl: string, database: string): string =>
  serverUrl.replace(/[^/]+$/, database);

/** Runs statements on a server, outside of the databases of tests. */
export async function onServer(
  serverUrl: string,
  run: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await run(client);
  } finally {
    await client.end();
  }
}
