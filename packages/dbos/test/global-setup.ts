import { PostgresServer } from "@moora/testbed/postgres/server";
import type { TestProject } from "vitest/node";
import { prepareDatabases } from "./databases.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the server on which each test creates its database. */
    readonly postgresUrl: string;
  }
}

/** Starts one server of PostgreSQL for all tests of this package. Resolves with what stops it. */
export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const server = await PostgresServer.start();
  await prepareDatabases(server.url);
  project.provide("postgresUrl", server.url);
  return async () => await server[Symbol.asyncDispose]();
}
