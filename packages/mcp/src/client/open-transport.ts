import type { StreamableHTTPClientTransport, Transport } from "@modelcontextprotocol/client";
import { loadSdk } from "../load-sdk.ts";
import { textToJson, isJsonObject } from "@moora/llm/internal";
import { closeTree } from "./close-tree.ts";
import { limitedFetch } from "./limited-fetch.ts";
import type { SecretMask } from "./secret-mask.ts";
import { isHttp, type HttpServer, type McpServerAddress, type StdioServer } from "./server-address.ts";
import type { Stream } from "node:stream";

/** A transport to a server, not yet connected. */
export interface OpenedTransport {
  readonly transport: Transport;
  /** The last output of a server for people; "" if there was none. */
  readonly lastOutput: () => string;
  /** Ends the session of a server that has sessions. */
  readonly endSession?: () => Promise<void>;
}

/** Opens the transport to an address. A message of the server has at most `maxBytes`. */
export const openTransport = (
  address: McpServerAddress,
  maxBytes: number,
  mask: SecretMask,
): Promise<OpenedTransport> =>
  isHttp(address) ? openHttp(address, maxBytes, mask) : openStdio(address, maxBytes, mask);

async function openStdio(
  { command, args = [], env = {}, cwd }: StdioServer,
  maxBytes: number,
  mask: SecretMask,
): Promise<OpenedTransport> {
  const { StdioClientTransport } = await loadSdk(
    "@modelcontextprotocol/client",
    () => import("@modelcontextprotocol/client/stdio"),
  );
  class ProcessTransport extends StdioClientTransport {
    override async close(): Promise<void> {
      const close = async (): Promise<void> => await super.close();
      await (this.pid === null ? close() : closeTree(this.pid, close));
    }
  }
  const transport = new ProcessTransport({
    command,
    args: [...args],
    env: { ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stderr: "pipe",
    maxBufferSize: maxBytes,
  });
  return { transport, lastOutput: stderrTail(transport.stderr, mask) };
}

/** How long the end of a session may take before the connection is closed without it. */
const endSessionMs = 1_000;

async function openHttp(address: HttpServer, maxBytes: number, mask: SecretMask): Promise<OpenedTransport> {
  const sdk = await loadSdk("@modelcontextprotocol/client", () => import("@modelcontextprotocol/client"));
  /** The ids of the requests whose responses were over the limit. */
  const tooLarge = new Set<unknown>();
  const onExceeded = (request: unknown): void => void tooLarge.add(requestId(request));
  const transport = new sdk.StreamableHTTPClientTransport(new URL(address.url), {
    fetch: limitedFetch(address, { maxBytes, onExceeded, mask }),
    // A redirect may be answered after a call has run, and following it would send the call again.
    requestInit: { redirect: "manual" },
  });
  answerCutRequests(transport, (id) =>
    tooLarge.delete(id)
      ? { code: messageTooLarge, message: `The server sent more than ${maxBytes} bytes at once.` }
      : undefined,
  );
  const endSession = async (): Promise<void> => {
    if (transport.sessionId === undefined) return;
    const late = new Promise<void>((resolve) => void setTimeout(resolve, endSessionMs).unref());
    await Promise.race([transport.terminateSession().catch(() => undefined), late]);
  };
  return { transport, lastOutput: () => "", endSession };
}

/** The id of the message in the body of a request; undefined if it has none. */
function requestId(body: unknown): unknown {
  const message = typeof body === "string" ? textToJson(body) : undefined;
  return isJsonObject(message) ? message["id"] : undefined;
}

/** The codes of the answers that take the place of a missing one: its stream has ended, or was over the limit. */
export const streamEnded = -32_099;
export const messageTooLarge = -32_098;

interface ProtocolProblem {
  readonly code: number;
  readonly message: string;
}

/**
 * Answers a request whose response was cut off. Where the stream ends without an answer, the SDK would wait without end in the older
 * protocol; where it is over the limit, the SDK does not report it to the request.
 */
function answerCutRequests(
  transport: StreamableHTTPClientTransport,
  excess: (id: unknown) => ProtocolProblem | undefined,
): void {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const id = !Array.isArray(message) && "method" in message && "id" in message ? message.id : undefined;
    if (id === undefined) return await send(message, options);
    // An answer that was received before is not replaced.
    const answer = (error: ProtocolProblem): void => transport.onmessage?.({ jsonrpc: "2.0", id, error });
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      answer(excess(id) ?? { code: streamEnded, message: "The stream ended without an answer." });
    };
    try {
      await send(message, { ...options, onRequestStreamEnd });
    } catch (error) {
      const problem = excess(id);
      if (problem === undefined) throw error;
      answer(problem);
    }
  };
}

/** Leaves out of the handshake of the older protocol that a person can be asked. In the newer one each request says so. */
export function hideElicitation(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const isHandshake = !Array.isArray(message) && "method" in message && message.method === "initialize";
    const { params } = isHandshake ? message : {};
    if (!isJsonObject(params) || !isJsonObject(params["capabilities"])) return send(message, options);
    const { elicitation: _, ...capabilities } = params["capabilities"];
    return send({ ...message, params: { ...params, capabilities } }, options);
  };
}

/** How much of the output is shown, in characters. As much before it is read, so that no secret is cut in two before it is masked. */
const maxLength = 2_000;

/** Reads the output of a server that is meant for people, and keeps its end. Returns a function that returns it, masked. */
function stderrTail(output: Stream | null, mask: SecretMask): () => string {
  let tail = "";
  output?.on("data", (chunk: Buffer) => {
    tail = (tail + chunk.toString("utf8")).slice(-2 * maxLength);
  });
  return () => mask.error(tail).slice(-maxLength).trim().toWellFormed();
}
