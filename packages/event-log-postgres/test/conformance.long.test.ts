import { type LogCase, logConformance } from "@moora/event-log/testing";
import type pg from "pg";
import { afterAll, beforeAll, describe, it } from "vitest";
import { failOnDriverWarnings } from "@moora/testbed/postgres/driver-warnings";
import { poolOn, PostgresServer } from "@moora/testbed/postgres/server";
import { postgresStorage } from "@moora/testbed/postgres/storage";

let server: PostgresServer;
let pool: pg.Pool;

beforeAll(async () => {
  failOnDriverWarnings();
  server = await PostgresServer.start();
  pool = poolOn(server.url);
});

afterAll(async () => {
  await pool.end();
  await server[Symbol.asyncDispose]();
});

async function checkCase({ run }: LogCase): Promise<void> {
  const storage = postgresStorage(pool, server.url);
  try {
    await run(storage);
  } finally {
    await storage.dispose();
  }
}

describe("(B13) the postgres log", () => {
  it.each(logConformance(["rewrite", "damageHeader", "damageSnapshot", "raiseFormat"]))(
    "$name",
    async (logCase) => checkCase(logCase),
  );
});
