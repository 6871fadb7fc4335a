import type { StreamableHTTPClientTransport, Transport } from "@modelcontextprotocol/client";
import { loadSdk } from "../load-sdk.ts";
import { limitedFetch, type WireLimit } from "./limited-fetch.ts";
import { isHttp, type HttpServer, type McpServerAddress, type StdioServer } from "./server-address.ts";
import { stderrTail } from "./stderr-tail.ts";

/** A transport to a server, not yet connected. */
export interface OpenedTransport {
  readonly transport: Transport;
  /** The last output of a server for people; "" if there was none. */
  readonly lastOutput: () => string;
  /** Ends the session of a server that has sessions. */
  readonly endSession?: () => Promise<void>;
}

/** Opens the transport to an address. `onExceeded` of the limit is called for servers at a URL only. */
export const openTransport = (address: McpServerAddress, limit: WireLimit): Promise<OpenedTransport> =>
  isHttp(address) ? openHttp(address, limit) : openStdio(address, limit);

async function openStdio(
  { command, args = [], env = {}, cwd }: StdioServer,
  { maxBytes }: WireLimit,
): Promise<OpenedTransport> {
  const { StdioClientTransport } = await loadSdk(
    "@modelcontextprotocol/client",
    () => import("@modelcontextprotocol/client/stdio"),
  );
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stderr: "pipe",
    maxBufferSize: maxBytes,
  });
  return { transport, lastOutput: stderrTail(transport.stderr) };
}

/** How long the end of a session may take before the connection is closed without it. */
const endSessionMs = 1_000;

async function openHttp(address: HttpServer, limit: WireLimit): Promise<OpenedTransport> {
  const sdk = await import("@modelcontextprotocol/client");
  const transport = new sdk.StreamableHTTPClientTransport(new URL(address.url), {
    fetch: limitedFetch(address, limit),
    // A redirect may be answered after a call has run, and following it would send the call again.
    requestInit: { redirect: "manual" },
  });
  failAtEndOfStream(transport);
  const endSession = async (): Promise<void> => {
    if (transport.sessionId === undefined) return;
    const late = new Promise<void>((resolve) => void setTimeout(resolve, endSessionMs).unref());
    await Promise.race([transport.terminateSession().catch(() => undefined), late]);
  };
  return { transport, lastOutput: () => "", endSession };
}

/** The code of the answer that takes the place of a missing one, at the end of the stream of a request. */
export const streamEnded = -32_099;

/** Answers a request whose stream has ended without an answer: in the older protocol, the SDK would wait without end. */
function failAtEndOfStream(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const id = !Array.isArray(message) && "method" in message && "id" in message ? message.id : undefined;
    if (id === undefined) return await send(message, options);
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      // An answer that was received before is not replaced.
      const error = { code: streamEnded, message: "The stream ended without an answer." };
      transport.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    await send(message, { ...options, onRequestStreamEnd });
  };
}
