import type { LogListener } from "@moora/agent";
import type { EventLog } from "@moora/event-log";
import type { Readable, Writable } from "node:stream";

/** The options of `mcpServer`. Only `log` is required. */
export interface McpServerOptions {
  /** The log for the sessions. A call that waits for a person continues in it, also after a restart. */
  readonly log: EventLog;
  /** The name of the server. Default: "moora". */
  readonly name?: string;
  /** The release of the server. Default: that of `@moora/mcp`. */
  readonly version?: string;
  /**
   * The key that signs what a client keeps while a person decides: at least 32 bytes, the same in each process that serves the
   * log. Default: a random key, with which a call that waits cannot be answered after a restart; call again with its session.
   */
  readonly secret?: string | Uint8Array;
  /**
   * For HTTP: returns the id of the user of a request, or undefined to refuse it with the status 401. A user sees and continues
   * only the sessions that this user began. Default: every request is of the user of this machine, who sees every session.
   */
  readonly authorize?: (request: Request) => string | undefined | Promise<string | undefined>;
  /**
   * For HTTP: the names in the `Host` and `Origin` headers of requests, without ports. Other requests are refused with the status
   * 403. Names beyond this machine need `authorize`. Default: `localhost`, `127.0.0.1` and `[::1]`.
   */
  readonly allowedHosts?: readonly string[];
  /** Called with errors that no client sees: of the log, of the runner, of a connection. Default: nothing. */
  readonly onError?: (error: unknown) => void;
  /** Receives the log entries of the sessions, as `onLog` of `openSession` does. Default: none. */
  readonly onLog?: LogListener;
}

/** The streams of a connection. Default: those of this process. */
export interface StdioStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Where a server listens. */
export interface ListenOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** A name or an address of this machine. Default: `127.0.0.1`. */
  readonly host?: string;
}

/** A server that listens. */
export interface ListeningServer {
  /** The URL for clients. */
  readonly url: string;
  /** Stops listening and ends the open connections. */
  close(): Promise<void>;
}

/** Agents as a server of the Model Context Protocol, over any number of transports. */
export interface McpAgentServer {
  /**
   * Serves one client over standard input and output, and resolves when it has ended the connection and the sessions of its calls
   * are closed. Their work resumes when they are opened again. Nothing else may write to the output. Rejects with `BuildError` after `close`.
   */
  serveStdio(streams?: StdioStreams): Promise<void>;
  /** Answers a request of streamable HTTP, at any path; with the status 503 after `close`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /**
   * Serves HTTP on a port of this machine. Default: any free port of 127.0.0.1. A host beyond this machine needs `authorize`. Needs
   * the package `@modelcontextprotocol/node`. Rejects with `BuildError` for an invalid option and after `close`, and with `ListenError`
   * if the address cannot be bound.
   */
  listen(options?: ListenOptions): Promise<ListeningServer>;
  /**
   * Ends all connections and closes the sessions that run; their work resumes when they are opened again. Resolves when the server no
   * longer uses the log. A closed server stays closed.
   */
  close(): Promise<void>;
  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}
