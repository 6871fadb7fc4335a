import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import type { UserSessions } from "@moora/agent/internal";
import manifest from "../../package.json" with { type: "json" };
import { agentToolHandler, type WaitingCall } from "./agent-tool-handler.ts";
import type { McpServerOptions } from "./mcp-agent-server.ts";
import type { CallRunner } from "./run-call.ts";
import type { Connection } from "./run-round.ts";
import type { ServedAgent } from "./served-agent.ts";
import type { ServerSdk } from "./server-sdk.ts";
import { addSessionResources } from "./session-resources.ts";

/** What the servers of all connections and requests share. */
export interface FactoryParts {
  readonly sdk: ServerSdk;
  readonly agents: ReadonlyMap<string, Required<ServedAgent>>;
  readonly runner: CallRunner;
  readonly options: Pick<McpServerOptions, "name" | "version" | "secret">;
}

const input = {
  type: "object",
  properties: {
    task: {
      type: "string",
      description:
        "The complete task, with everything that is needed to do it. Without a session it is required.",
    },
    session: {
      type: "string",
      description: "The session of an earlier answer, to continue its conversation. Default: a new one.",
    },
  },
  additionalProperties: false,
} as const;

const output = {
  type: "object",
  properties: { answer: { type: "string" }, session: { type: "string" } },
  required: ["answer", "session"],
} as const;

/** An agent may have any tool, so a client should treat its own as one that can do harm. */
const annotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** Makes the server of one connection over streams, or of one request over HTTP, with the sessions of its user. */
export type ServerFactory = (sessions: UserSessions, connection?: Connection) => McpServer;

/**
 * How long the state of a call that waits is valid, in seconds: a hundred years. How long a question is open is a matter of its session, and a
 * state that is used again changes nothing: a decision counts once.
 */
const stateSeconds = 100 * 365 * 24 * 60 * 60;

export function serverFactory({ agents, options, runner, sdk }: FactoryParts): ServerFactory {
  const {
    name = "moora",
    secret = crypto.getRandomValues(new Uint8Array(32)),
    version = manifest.version,
  } = options;
  const codec = sdk.createRequestStateCodec<WaitingCall>({
    key: secret,
    ttlSeconds: stateSeconds,
    bind: userOf,
  });
  return (sessions, connection) => {
    const server = new sdk.McpServer({ name, version }, { requestState: { verify: codec.verify } });
    const mint = (state: WaitingCall, context: ServerContext): Promise<string> => codec.mint(state, context);
    for (const [tool, served] of agents) {
      server.registerTool(
        tool,
        {
          description: served.description,
          inputSchema: sdk.fromJsonSchema<{ task?: string; session?: string }>(input),
          outputSchema: sdk.fromJsonSchema(output),
          annotations,
        },
        agentToolHandler(served, { sdk, server, runner, sessions, connection, mint }),
      );
    }
    addSessionResources(server, sdk, sessions);
    return server;
  };
}

const userOf = ({ http }: ServerContext): string => http?.authInfo?.clientId ?? "";
