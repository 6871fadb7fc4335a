import { randomUUID } from "node:crypto";
import { DBOS } from "@dbos-inc/dbos-sdk";
import pg from "pg";

/** The database with the tables of DBOS, which the databases of tests are copies of. */
const prepared = "prepared";

/** A database of PostgreSQL without tables, to be copied. */
export const withoutTables = "template1";

/** Creates the database of which `createDatabase` makes copies, on a new server. */
export async function prepareDatabases(serverUrl: string): Promise<void> {
  await query(serverUrl, `CREATE DATABASE ${prepared}`);
  await DBOS.migrate(urlOf(serverUrl, prepared));
}

/** Creates a database on a server, and resolves with its address. */
export async function createDatabase(serverUrl: string, template: string = prepared): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "_")}`;
  await query(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return urlOf(serverUrl, name);
}

const urlOf = (serverUrl: string, database: string): string => serverUrl.replace(/[^/]+$/, database);

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}
