import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { isObject } from "@moora/agent-core-effects/internal";
import type { McpRoute, UserSessions } from "@moora/agent/internal";
import { isJsonObject } from "@moora/llm/internal";
import { CallRunner } from "./run-call.ts";
import { serverFactory, type FactoryParts, type ServerFactory } from "./server-factory.ts";
import { serverSdk, type ServerSdk } from "./server-sdk.ts";

/** The SDK of the protocol, with what makes servers and answers HTTP. */
interface LoadedServer {
  readonly sdk: ServerSdk;
  readonly factory: ServerFactory;
  readonly handler: McpHttpHandler;
}

/** Agents as tools of the protocol, behind any transport. The SDK is loaded when it is needed, which rejects with `McpError` without it. */
export class ToolServer implements McpRoute {
  readonly runner: CallRunner;
  readonly #parts: Pick<FactoryParts, "agents" | "options">;
  readonly #onError: (error: unknown) => void;
  #loaded: Promise<LoadedServer> | undefined;

  constructor(parts: Pick<FactoryParts, "agents" | "options">, onError: (error: unknown) => void) {
    this.#parts = parts;
    this.#onError = onError;
    this.runner = new CallRunner(onError);
  }

  load(): Promise<LoadedServer> {
    this.#loaded ??= this.#load();
    return this.#loaded;
  }

  async #load(): Promise<LoadedServer> {
    const sdk = await serverSdk();
    const factory = serverFactory({ ...this.#parts, sdk, runner: this.runner });
    const handler = sdk.createMcpHandler(({ authInfo }) => factory(sessionsIn(authInfo?.extra)), {
      onerror: this.#onError,
    });
    return { sdk, factory, handler };
  }

  async fetch(request: Request, sessions: UserSessions, parsedBody?: unknown): Promise<Response> {
    const { handler } = await this.load();
    const authInfo = { token: "", clientId: sessions.user, scopes: [], extra: { sessions } };
    return await handler.fetch(request, { authInfo, ...(parsedBody === undefined ? {} : { parsedBody }) });
  }

  /** Ends the requests that are open, and the sessions of calls. `endConnections` ends what other transports have. */
  async close(endConnections: () => Promise<unknown> = () => Promise.resolve()): Promise<void> {
    const loaded = await this.#loaded?.catch(() => undefined);
    await this.runner.close(async () => {
      await endConnections();
      await loaded?.handler.close();
    });
  }
}

/** The sessions that `fetch` has added to a request. */
function sessionsIn(extra: unknown): UserSessions {
  const sessions = isJsonObject(extra) ? extra["sessions"] : undefined;
  if (!isSessions(sessions)) throw new Error("The request has no user.");
  return sessions;
}

const isSessions = (value: unknown): value is UserSessions =>
  isObject(value) && typeof value["refusal"] === "function";
