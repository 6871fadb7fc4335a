import type * as sdk from "@modelcontextprotocol/server";
import { loadSdk } from "../load-sdk.ts";

/** The package of the protocol's SDK for servers. */
export type ServerSdk = typeof sdk;

export const serverSdk = (): Promise<ServerSdk> =>
  loadSdk("@modelcontextprotocol/server", () => import("@modelcontextprotocol/server"));

/**
 * Resolves if `@modelcontextprotocol/server`, which `mcpServer` and `mcpOfServer` load with the first request, can be loaded. Rejects with
 * `McpError`, code `not-installed`, otherwise.
 */
export async function checkServerSdk(): Promise<void> {
  await serverSdk();
}
