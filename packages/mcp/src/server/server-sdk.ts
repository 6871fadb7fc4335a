import type * as sdk from "@modelcontextprotocol/server";
import { loadSdk } from "../load-sdk.ts";

/** The package of the protocol's SDK for servers. */
export type ServerSdk = typeof sdk;

export const serverSdk = (): Promise<ServerSdk> =>
  loadSdk("@modelcontextprotocol/server", () => import("@modelcontextprotocol/server"));
