import { loadSdk } from "../load-sdk.ts";

/** The package of the protocol's SDK for servers. */
export type ServerSdk = typeof import("@modelcontextprotocol/server");

export const serverSdk = (): Promise<ServerSdk> =>
  loadSdk("@modelcontextprotocol/server", () => import("@modelcontextprotocol/server"));
