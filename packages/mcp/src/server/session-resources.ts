import type { McpServer } from "@modelcontextprotocol/server";
import { stateAt } from "@moora/agent";
import type { EventLog, LogInfo } from "@moora/event-log";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import type { ServerSdk } from "./server-sdk.ts";
import { maySee, type User } from "./session-access.ts";

/** Whose sessions are resources: those that the user may see, of the agents that are served. */
export interface SessionScope {
  readonly log: EventLog;
  readonly user: User;
  /** The names of the agents. */
  readonly agents: ReadonlySet<string>;
}

const listUri = "moora://sessions";
const uriOf = (id: string): string => `${listUri}/${encodeURIComponent(id)}`;
const mimeType = "application/json";

/** Adds the list of sessions and the messages of each as resources. */
export function addSessionResources(server: McpServer, sdk: ServerSdk, scope: SessionScope): void {
  server.registerResource(
    "sessions",
    listUri,
    { description: "The sessions: the id, the agent, and the number of records of each.", mimeType },
    async (uri) =>
      json(
        uri,
        (await visibleSessions(scope)).map(({ agent, info }) => ({ id: info.id, agent, records: info.head })),
      ),
  );
  const template = new sdk.ResourceTemplate(`${listUri}/{id}`, {
    list: async () => ({
      resources: (await visibleSessions(scope)).map(({ agent, info }) => ({
        uri: uriOf(info.id),
        name: info.id,
        description: `A session of the agent ${agent}.`,
        mimeType,
      })),
    }),
  });
  const about = { description: "The messages of one session, from the first to the last.", mimeType };
  server.registerResource("session", template, about, async (uri, { id }) => {
    const wanted = decodeURIComponent(String(id));
    const found = (await visibleSessions(scope)).find(({ info }) => info.id === wanted);
    if (found === undefined) throw new sdk.ResourceNotFoundError(uri.href);
    const { state } = await stateAt(scope.log, wanted);
    return json(
      uri,
      state.messages.map(({ role, content }) => ({ role, content })),
    );
  });
}

interface VisibleSession {
  readonly info: LogInfo;
  readonly agent: string;
}

async function visibleSessions({ agents, log, user }: SessionScope): Promise<readonly VisibleSession[]> {
  const sessions = await log.list();
  return sessions.flatMap((info) => {
    const agent = agentOf(info);
    return maySee(user, info.id) && agents.has(agent) ? [{ info, agent }] : [];
  });
}

/** The name of the agent of a session; "" for a header that is not one. */
function agentOf({ header }: LogInfo): string {
  const parsed = textToJson(header);
  const agent = isJsonObject(parsed) ? parsed["agent"] : undefined;
  return isJsonObject(agent) && typeof agent["name"] === "string" ? agent["name"] : "";
}

const json = (uri: URL, value: unknown): { contents: { uri: string; mimeType: string; text: string }[] } => ({
  contents: [{ uri: uri.href, mimeType, text: JSON.stringify(value) }],
});
