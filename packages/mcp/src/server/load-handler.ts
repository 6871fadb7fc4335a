import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { serverFactory, type FactoryParts, type ServerFactory } from "./server-factory.ts";
import { serverSdk, type ServerSdk } from "./server-sdk.ts";

/** The SDK of the protocol, with what makes servers and answers HTTP. */
export interface LoadedServer {
  readonly sdk: ServerSdk;
  readonly factory: ServerFactory;
  readonly handler: McpHttpHandler;
}

/** Loads the SDK. Rejects with `McpError` if it is not installed. */
export async function loadHandler(
  parts: Omit<FactoryParts, "sdk">,
  onError: (error: unknown) => void,
): Promise<LoadedServer> {
  const sdk = await serverSdk();
  const factory = serverFactory({ ...parts, sdk });
  return { sdk, factory, handler: sdk.createMcpHandler((context) => factory(context), { onerror: onError }) };
}
