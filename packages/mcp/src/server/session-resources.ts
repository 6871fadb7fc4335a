import type { McpServer } from "@modelcontextprotocol/server";
import type { ListedSession, UserSessions } from "@moora/agent/internal";
import type { ServerSdk } from "./server-sdk.ts";

const listUri = "moora://sessions";
const uriOf = (id: string): string => `${listUri}/${encodeURIComponent(id)}`;
const mimeType = "application/json";

/** Adds the list of sessions and the messages of each as resources. */
export function addSessionResources(server: McpServer, sdk: ServerSdk, sessions: UserSessions): void {
  server.registerResource(
    "sessions",
    listUri,
    { description: "The sessions: the id, the agent, and the number of records of each.", mimeType },
    async (uri) => json(uri, await rowsOf(sessions, (session) => session)),
  );
  const template = new sdk.ResourceTemplate(`${listUri}/{id}`, {
    list: async () => ({
      resources: await rowsOf(sessions, ({ id, agent }) => ({
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
    const messages = wanted === undefined ? undefined : await sessions.messagesOf(wanted);
    if (messages === undefined) throw new sdk.ResourceNotFoundError(uri.href);
    return json(
      uri,
      messages.map(({ role, content }) => ({ role, content })),
    );
  });
}

async function rowsOf<Row>(sessions: UserSessions, rowOf: (session: ListedSession) => Row): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const session of sessions.list()) rows.push(rowOf(session));
  return rows;
}

/** The id in a URI; undefined for one whose percent signs begin no character. */
function decodedId(id: string): string | undefined {
  try {
    return decodeURIComponent(id);
  } catch {
    return undefined;
  }
}

const json = (uri: URL, value: unknown): { contents: { uri: string; mimeType: string; text: string }[] } => ({
  contents: [{ uri: uri.href, mimeType, text: JSON.stringify(value) }],
});
