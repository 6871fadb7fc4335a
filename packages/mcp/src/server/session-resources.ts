import type { McpServer } from "@modelcontextprotocol/server";
import { stateAt } from "@moora/agent";
import { sessionsOf, type EventLog } from "@moora/event-log";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import type { ServerSdk } from "./server-sdk.ts";
import { maySee, openVisible, type User } from "./session-access.ts";

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
    async (uri) => json(uri, await visibleSessions(scope, (session) => session)),
  );
  const template = new sdk.ResourceTemplate(`${listUri}/{id}`, {
    list: async () => ({
      resources: await visibleSessions(scope, ({ id, agent }) => ({
        uri: uriOf(id),
        name: id,
        description: `A session of the agent ${agent}.`,
        mimeType,
      })),
    }),
  });
  const about = { description: "The messages of one session, from the first to the last.", mimeType };
  server.registerResource("session", template, about, async (uri, { id }) => {
    const wanted = decodedId(String(id));
    if (wanted === undefined || !(await isVisible(scope, wanted)))
      throw new sdk.ResourceNotFoundError(uri.href);
    const { state } = await stateAt(scope.log, wanted);
    return json(
      uri,
      state.messages.map(({ role, content }) => ({ role, content })),
    );
  });
}

/** A session as the list of sessions shows it. */
interface ListedSession {
  readonly id: string;
  readonly agent: string;
  readonly records: number;
}

/** The sessions that the user may see, of the served agents. */
async function visibleSessions<Row>(
  { agents, log, user }: SessionScope,
  rowOf: (session: ListedSession) => Row,
): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const { id, header, head } of sessionsOf(log, { limit: 200 })) {
    const agent = agentOf(header);
    if (maySee(user, id) && agents.has(agent)) rows.push(rowOf({ id, agent, records: head }));
  }
  return rows;
}

/** Whether a session exists that the user may see, of a served agent. */
async function isVisible({ agents, log, user }: SessionScope, id: string): Promise<boolean> {
  const session = await openVisible(log, user, id);
  return session !== undefined && agents.has(agentOf(session.header));
}

/** The id in a URI; undefined for one whose percent signs begin no character. */
function decodedId(id: string): string | undefined {
  try {
    return decodeURIComponent(id);
  } catch {
    return undefined;
  }
}

/** The name of the agent of a session; "" for a header that is not one. */
function agentOf(header: string): string {
  const parsed = textToJson(header);
  const agent = isJsonObject(parsed) ? parsed["agent"] : undefined;
  return isJsonObject(agent) && typeof agent["name"] === "string" ? agent["name"] : "";
}

const json = (uri: URL, value: unknown): { contents: { uri: string; mimeType: string; text: string }[] } => ({
  contents: [{ uri: uri.href, mimeType, text: JSON.stringify(value) }],
});
