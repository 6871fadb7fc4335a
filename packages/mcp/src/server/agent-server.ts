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
import { loadHandler, type LoadedServer } from "./load-handler.ts";
import { LogSessions } from "./log-sessions.ts";
import { isLocalName, localNames } from "./local-names.ts";
import type {
  ListeningServer,
  ListenOptions,
  McpAgentServer,
  McpServerOptions,
  StdioStreams,
} from "./mcp-agent-server.ts";
import { CallRunner } from "./run-call.ts";
import type { ServedAgent } from "./served-agent.ts";
import type { FactoryParts } from "./server-factory.ts";
import type { ServerSdk } from "./server-sdk.ts";

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
  readonly #agents: ReadonlyMap<string, Required<ServedAgent>>;
  readonly #options: McpServerOptions;
  readonly #onError: (error: unknown) => void;
  readonly #runner: CallRunner;
  readonly #handles = new Set<{ close(): Promise<void> }>();
  #loaded: Promise<LoadedServer> | undefined;
  #isClosed = false;

  constructor(agents: ReadonlyMap<string, Required<ServedAgent>>, options: McpServerOptions) {
    this.#agents = agents;
    this.#options = options;
    this.#onError = options.onError === undefined ? () => undefined : safeErrorListener(options.onError);
    this.#runner = new CallRunner(this.#onError);
  }

  async serveStdio(streams: StdioStreams = processStreams()): Promise<void> {
    checkOptions("serveStdio", streams, streamForms);
    this.#checkIsOpen();
    const { input, output } = streams;
    const { factory } = await this.#load();
    const { StdioServerTransport, serveStdio } = await loadSdk(
      "@modelcontextprotocol/server",
      () => import("@modelcontextprotocol/server/stdio"),
    );
    this.#checkIsOpen();
    const ended = Promise.withResolvers<void>();
    for (const event of ["end", "close", "error"]) input.once(event, () => ended.resolve());
    const transport = new StdioServerTransport(input, output);
    const connection = Symbol("streams");
    const handle: StdioServerHandle = serveStdio((context) => factory(context, connection), {
      transport,
      onerror: this.#onError,
    });
    const stop = { close: () => (ended.resolve(), handle.close()) };
    this.#handles.add(stop);
    await ended.promise;
    this.#handles.delete(stop);
    await handle.close();
    await this.#runner.closeOf(connection);
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const { handler, sdk } = await this.#load();
    const refused = this.#refusal(sdk, request);
    if (refused !== undefined) return refused;
    const { authorize } = this.#options;
    const user = await authorize?.(request);
    if (this.#isClosed) return new Response(null, { status: 503 });
    if (authorize === undefined) return await handler.fetch(request);
    if (user === undefined || user === null) return new Response(null, { status: 401 });
    // What code without types may return. Sessions of users that have no name of their own would be those of one user.
    if (typeof user !== "string" || user === "") {
      this.#onError(
        new TypeError(`authorize must return the name of a user or undefined, got ${shownValue(user)}.`),
      );
      return new Response(null, { status: 500 });
    }
    return await handler.fetch(request, { authInfo: { token: "", clientId: user, scopes: [] } });
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
    const loaded = await this.#loaded;
    await this.#runner.close(async () => {
      await Promise.all([...this.#handles].map((handle) => handle.close()));
      await loaded?.handler.close();
    });
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

  #load(): Promise<LoadedServer> {
    const [agents, runner, options, onError] = [this.#agents, this.#runner, this.#options, this.#onError];
    const { log, onLog } = options;
    const shared = { log, agents: new Set(agents.keys()), onError, onLog };
    const sessionsOf: FactoryParts["sessionsOf"] = (authInfo) => new LogSessions(authInfo?.clientId, shared);
    this.#loaded ??= loadHandler({ agents, runner, options, sessionsOf }, onError);
    return this.#loaded;
  }
}

/** The streams of this process. */
const processStreams = (): StdioStreams => ({ input: process.stdin, output: process.stdout });
