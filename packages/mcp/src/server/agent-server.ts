import type { StdioServerHandle } from "@modelcontextprotocol/server/stdio";
import { safeErrorListener } from "@moora/agent/internal";
import {
  checkOptions,
  refuse,
  shownValue,
  withMethods,
  type OptionForms,
} from "@moora/agent-core-effects/internal";
import { loadSdk } from "../load-sdk.ts";
import { LogSessions } from "./log-sessions.ts";
import { isLocalName, localNames } from "./local-names.ts";
import type {
  ListeningServer,
  ListenOptions,
  McpAgentServer,
  McpServerOptions,
  StdioStreams,
} from "./mcp-agent-server.ts";
import type { ServedAgent } from "./served-agent.ts";
import type { ServerSdk } from "./server-sdk.ts";
import { ToolServer } from "./tool-server.ts";

const listenForms: OptionForms<ListenOptions> = {
  port: "port",
  host: "string",
};

const streamForms: OptionForms<StdioStreams> = {
  input: withMethods("a readable stream", "on", "once"),
  output: withMethods("a writable stream", "write", "on"),
};

/** The server that `mcpServer` returns: one factory of protocol servers behind each transport. */
export class AgentServer implements McpAgentServer {
  readonly #options: McpServerOptions;
  readonly #onError: (error: unknown) => void;
  readonly #server: ToolServer;
  readonly #sessionsOf: (user: string | undefined) => LogSessions;
  readonly #handles = new Set<{ close(): Promise<void> }>();
  #isClosed = false;

  constructor(agents: ReadonlyMap<string, Required<ServedAgent>>, options: McpServerOptions) {
    this.#options = options;
    this.#onError = options.onError === undefined ? () => undefined : safeErrorListener(options.onError);
    this.#server = new ToolServer({ agents, options }, this.#onError);
    const { log, onLog } = options;
    const shared = { log, agents: new Set(agents.keys()), onError: this.#onError, onLog };
    this.#sessionsOf = (user) => new LogSessions(user, shared);
  }

  async serveStdio(streams: StdioStreams = processStreams()): Promise<void> {
    checkOptions("serveStdio", streams, streamForms);
    this.#checkIsOpen();
    const { input, output } = streams;
    const { factory } = await this.#server.load();
    const { StdioServerTransport, serveStdio } = await loadSdk(
      "@modelcontextprotocol/server",
      () => import("@modelcontextprotocol/server/stdio"),
    );
    this.#checkIsOpen();
    const ended = Promise.withResolvers<void>();
    for (const event of ["end", "close", "error"]) input.once(event, () => ended.resolve());
    const transport = new StdioServerTransport(input, output);
    const connection = Symbol("streams");
    const handle: StdioServerHandle = serveStdio(() => factory(this.#sessionsOf(undefined), connection), {
      transport,
      onerror: this.#onError,
    });
    const stop = { close: () => (ended.resolve(), handle.close()) };
    this.#handles.add(stop);
    await ended.promise;
    this.#handles.delete(stop);
    await handle.close();
    await this.#server.runner.closeOf(connection);
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const { sdk } = await this.#server.load();
    const refused = this.#refusal(sdk, request);
    if (refused !== undefined) return refused;
    const { authorize } = this.#options;
    const user = await authorize?.(request);
    if (this.#isClosed) return new Response(null, { status: 503 });
    if (authorize === undefined) return await this.#server.fetch(request, this.#sessionsOf(undefined));
    if (user === undefined || user === null) return new Response(null, { status: 401 });
    // What code without types may return. Sessions of users that have no name of their own would be those of one user.
    if (typeof user !== "string" || user === "") {
      this.#onError(
        new TypeError(`authorize must return the name of a user or undefined, got ${shownValue(user)}.`),
      );
      return new Response(null, { status: 500 });
    }
    return await this.#server.fetch(request, this.#sessionsOf(user));
  };

  async listen(options: ListenOptions = {}): Promise<ListeningServer> {
    checkOptions("listen", options, listenForms);
    this.#checkIsOpen();
    const { host = "127.0.0.1", port = 0 } = options;
    if (!isLocalName(host) && this.#options.authorize === undefined)
      refuse(`host is ${shownValue(host)}, which other machines can reach. Give authorize as well.`);
    const { listenOnNode } = await import("./listen-on-node.ts");
    const listening = await listenOnNode(this.fetch, { host, port, onError: this.#onError });
    this.#handles.add(listening);
    if (this.#isClosed) await listening.close();
    this.#checkIsOpen();
    return listening;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#server.close(() => Promise.all([...this.#handles].map((handle) => handle.close())));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Throws `BuildError` for a server that is closed. */
  #checkIsOpen(): void {
    if (this.#isClosed) refuse("The server is closed. Create another one with mcpServer.");
  }

  /** The response to a request of another name, which a page of the web may have sent. */
  #refusal(sdk: ServerSdk, request: Request): Response | undefined {
    const names = [...(this.#options.allowedHosts ?? localNames)];
    return sdk.hostHeaderValidationResponse(request, names) ?? sdk.originValidationResponse(request, names);
  }
}

/** The streams of this process. */
const processStreams = (): StdioStreams => ({ input: process.stdin, output: process.stdout });
