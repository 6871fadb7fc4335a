import type { Client } from "@modelcontextprotocol/client";
import { isJsonObject, rootCause } from "@moora/llm/internal";
import { McpError } from "../mcp-error.ts";
import { causeText } from "./cause-text.ts";
import { isUnauthorized } from "./error-to-mcp-error.ts";
import { hideElicitation, openTransport } from "./open-transport.ts";
import { readTools, type ToolList } from "./read-tools.ts";
import type { SecretMask } from "./secret-mask.ts";
import { sdkClient, type ClientListeners, type ProtocolMode } from "./sdk-client.ts";
import { isHttp, type McpServerAddress, type StdioServer } from "./server-address.ts";

/** What is needed to connect to a server. */
export interface LinkOptions extends ClientListeners {
  readonly connectTimeoutMs: number;
  /** The maximum size of one message of the server, in bytes. */
  readonly maxMessageBytes: number;
  /** Masks what the server sends, and the errors of the connection. */
  readonly mask: SecretMask;
}

/** One connection to a server, from its handshake to its end. */
export interface ServerLink {
  readonly client: Client;
  /** The tools, as they were when the connection began. */
  readonly list: ToolList;
  /** Whether the connection has ended. */
  isClosed: boolean;
  /** The number of calls that wait for an answer. */
  openCalls: number;
  /**
   * Aborted when a message over the limit breaks the connection to a local server, whose process may take seconds to end. The reason is
   * the number of calls that were open.
   */
  readonly broken: AbortSignal;
  /** Ends the connection. */
  close(): Promise<void>;
}

/** The error of the protocol with which a server refuses the older protocol. */
const unsupportedVersion = -32_022;

/** Connects and lists the tools. Rejects with `connect-failed`, `unauthorized` or `not-installed`. */
export async function openLink(address: McpServerAddress, options: LinkOptions): Promise<ServerLink> {
  // A local server is asked in the newer protocol only if it refuses the older one: some end at a question before the handshake.
  if (isHttp(address)) return await connect(address, options, "auto");
  try {
    return await connect(address, options, "legacy");
  } catch (error) {
    const { cause } = error instanceof McpError ? error : {};
    if (!isJsonObject(cause) || cause["code"] !== unsupportedVersion) throw error;
    return await connect(address, options, "auto");
  }
}

async function connect(
  address: McpServerAddress,
  options: LinkOptions,
  mode: ProtocolMode,
): Promise<ServerLink> {
  const client = await sdkClient(options, mode);
  const status = { isClosed: false, openCalls: 0 };
  const broken = new AbortController();
  const { transport, lastOutput, endSession } = await openTransport(
    address,
    options.maxMessageBytes,
    options.mask,
  );
  if (!options.elicitsInOlderProtocol) hideElicitation(transport);
  Object.assign(client, {
    onclose() {
      status.isClosed = true;
    },
    onerror({ message }: Error) {
      // The transport of local servers reports it here, and ends the connection.
      if (isHttp(address) || !message.includes("exceeded maximum size")) return;
      status.isClosed = true;
      broken.abort(status.openCalls);
    },
  });
  try {
    const timeout = options.connectTimeoutMs;
    await client.connect(transport, { timeout });
    // Not every server answers a request for tools that it does not have.
    const hasTools = client.getServerCapabilities()?.tools !== undefined;
    const list = hasTools ? await readTools(options.name, client, timeout) : { tools: [], skipped: [] };
    const close = async (): Promise<void> => {
      status.isClosed = true;
      await endSession?.();
      await client.close();
    };
    return Object.assign(status, { client, list, broken: broken.signal, close });
  } catch (error) {
    await transport.close().catch(() => undefined);
    throw await connectError(address, options, options.mask.error(error), lastOutput());
  }
}

/** The error of a connection that cannot be made. It names the program without its arguments, which may be secret. */
async function connectError(
  address: McpServerAddress,
  { name, connectTimeoutMs }: LinkOptions,
  error: unknown,
  lastOutput: string,
): Promise<McpError> {
  if (error instanceof McpError) return error;
  if (error instanceof Error) Reflect.deleteProperty(error, "spawnargs");
  const problem = isHttp(address) ? undefined : await spawnProblem(address, error);
  const where = isHttp(address) ? new URL(address.url).origin : shownCommand(address, problem);
  if (isUnauthorized(error)) {
    return new McpError(
      "unauthorized",
      `The MCP server ${name} at ${where} asks for credentials, or refuses the given ones. Set them in headers.`,
      { cause: error },
    );
  }
  const isLate = isJsonObject(error) && error["code"] === "REQUEST_TIMEOUT";
  const reason = isLate ? `it did not answer within ${connectTimeoutMs} ms.` : (problem ?? causeText(error));
  const output = lastOutput === "" ? "" : ` Its last output: ${lastOutput}`;
  return new McpError(
    "connect-failed",
    `Cannot connect to the MCP server ${name} (${where}): ${reason}${output}`,
    {
      cause: error,
    },
  );
}

/** The program; without what may be arguments if there is no program of this name. */
const shownCommand = ({ command }: StdioServer, problem: string | undefined): string =>
  problem === undefined ? command : command.split(/\s/, 1).join("");

/** The errors of a program or a folder that does not exist, and of a folder that is a file. */
const missing: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR"]);

/**
 * Why the program of a server was not found, with the fix; undefined for any other error. Node reports a missing working folder as a
 * missing program. Arguments may be secret, and are not part of the text.
 */
async function spawnProblem({ command, cwd }: StdioServer, error: unknown): Promise<string | undefined> {
  if (!missing.has(rootCause(error).code)) return undefined;
  if (cwd !== undefined && !(await isFolder(cwd)))
    return `cwd must be a folder that exists, got ${JSON.stringify(cwd)}.`;
  if (/\s/.test(command))
    return "command must be a program without arguments. Give the arguments as a list, in args.";
  return `The program ${JSON.stringify(command)} was not found. Install it, or give its path.`;
}

async function isFolder(path: string): Promise<boolean> {
  const { stat } = await import("node:fs/promises");
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
