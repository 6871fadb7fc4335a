import type { Tool } from "@moora/agent-core-effects";
import { refuse, shownValue } from "@moora/agent-core-effects/internal";
import { checkCount, checkOptionNames, type OptionNames } from "../check-options.ts";
import type { OnElicitation } from "./elicitation.ts";
import { Connection } from "./connection.ts";
import { checkAddress, type McpServerAddress } from "./server-address.ts";
import { checkToolsOptions, toolsOptionNames, type McpToolsOptions } from "./tools-options.ts";

/** The options of `connectMcp`. Only `name` is required. */
export interface McpConnectOptions extends McpToolsOptions {
  /** Milliseconds that connecting may take, from the start of the server to the list of its tools. Default: 30,000. */
  readonly connectTimeoutMs?: number;
  /**
   * How often in a row a server is connected to again without having answered a call. After that, calls fail with
   * `connect-failed`. Default: 3.
   */
  readonly maxReconnects?: number;
  /**
   * Answers the questions that the server asks a person during a call, which waits meanwhile: its `timeoutMs` includes the
   * answer. A question is not stored, so a crash ends it with its call. Default: the server is informed that no person can
   * be asked, and a tool that needs an answer fails with `input-required` or as the server decides.
   */
  readonly onElicitation?: OnElicitation;
  /** Called with an error that no call fails with: a changed list of tools that cannot be used. Default: nothing. */
  readonly onError?: (error: Error) => void;
}

const optionNames: OptionNames<McpConnectOptions> = {
  ...toolsOptionNames,
  connectTimeoutMs: true,
  maxReconnects: true,
  onElicitation: true,
  onError: true,
};

/** A connection to an MCP server. */
export interface McpConnection {
  /** The name of the server, as the application gives it. */
  readonly name: string;
  /**
   * The tools of the server now. A `Tool` of an earlier list works as long as the server lists it with the same schema and the
   * same annotations; otherwise its calls fail with `tool-changed`.
   */
  readonly tools: readonly Tool[];
  /** What the server says about its use; undefined if it says nothing. It is the text of the server. */
  readonly instructions: string | undefined;
  /** Calls the listener with the new tools when the server has changed them. Returns a function that unsubscribes. */
  onToolsChanged(listener: (tools: readonly Tool[]) => void): () => void;
  /** Ends the connection, and with it a server that was started for it. Open calls fail with `closed`. */
  close(): Promise<void>;
  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Connects to an MCP server: starts the command, or uses the URL. If the connection ends, the next call connects again. Needs
 * the package `@modelcontextprotocol/client`. Rejects with `McpError` if the server cannot be used, and with `BuildError` for an
 * invalid option.
 */
export async function connectMcp(
  server: McpServerAddress,
  options: McpConnectOptions,
): Promise<McpConnection> {
  checkAddress(server);
  checkOptionNames("connectMcp", options, optionNames);
  checkToolsOptions(options);
  checkCount("connectTimeoutMs", options.connectTimeoutMs);
  checkCount("maxReconnects", options.maxReconnects);
  for (const name of ["onElicitation", "onError"] as const) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== "function")
      refuse(`${name} must be a function, got ${shownValue(value)}.`);
  }
  return await Connection.open(server, options);
}
