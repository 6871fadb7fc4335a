import { type LogCase, logConformance } from "@moora/event-log/testing";
import type pg from "pg";
import { afterAll, beforeAll, describe, inject, it } from "vitest";
import { failOnDriverWarnings } from "@moora/testbed/postgres/driver-warnings";
import { createDatabase } from "@moora/testbed/postgres/database";
import { poolOn } from "@moora/testbed/postgres/server";
import { postgresStorage } from "@moora/testbed/postgres/storage";

let url: string;
let pool: pg.Pool;

beforeAll(failOnDriverWarnings);
beforeAll(async () => {
  url = await createDatabase(inject("postgresUrl"));
  pool = poolOn(url);
});

afterAll(async () => {
  await pool.end();
});

async function checkCase({ run }: LogCase): Promise<void> {
  const storage = postgresStorage(pool, url);
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
