import type { TestProject } from "vitest/node";
import { PostgresServer } from "./server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the server of PostgreSQL that the long tests of a run share: each creates databases of its own. */
    readonly postgresUrl: string;
  }
}

/** Starts that server. Resolves with what stops it. */
export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const server = await PostgresServer.start();
  project.provide("postgresUrl", server.url);
  return async () => await server[Symbol.asyncDispose]();
}
