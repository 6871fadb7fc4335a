import type { Tool } from "@moora/agent-core-effects";
import type { OnElicitation } from "./elicitation.ts";
import type { McpToolsOptions } from "./tools-options.ts";

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
   * answer. A question is not stored, so a crash ends it with its call. Default: a question is one of the agent, as with `toolAsks`,
   * and the call continues with the answer. In the older protocol this needs a tool that may run again (`replay` of `rule`), and no
   * other open call; otherwise a tool that needs an answer fails as the server decides.
   */
  readonly onElicitation?: OnElicitation;
  /** Called with an error that no call fails with: a changed list of tools that cannot be used. Default: nothing. */
  readonly onError?: (error: Error) => void;
}

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
  /**
   * Ends the connection, and with it a server that was started for it, and what this has started, such as the server behind npx. Open
   * calls fail with `closed`.
   */
  close(): Promise<void>;
  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}
