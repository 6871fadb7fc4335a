import { DBOS } from "@dbos-inc/dbos-sdk";
import { addressOf, createDatabase, onServer } from "@moora/testbed/postgres/database";

/** The database with the tables of DBOS, which the databases of tests are copies of. */
const prepared = "prepared";

/** Creates a database with the tables of DBOS, and resolves with its address. The first call on a server makes those tables. */
export async function createPreparedDatabase(serverUrl: string): Promise<string> {
  await onServer(serverUrl, async (client) => {
    await client.query("SELECT pg_advisory_lock(1)");
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [prepared]);
    if (rowCount !== 0) return;
    await client.query(`CREATE DATABASE ${prepared}`);
    await DBOS.migrate(addressOf(serverUrl, prepared));
  });
  return await createDatabase(serverUrl, prepared);
}
