import type { AgentState, Question } from "@moora/agent";
import { frozen, stateVersion } from "@moora/agent-core-state-machine/internal";
import { ClientError } from "./client-error.ts";
import type { ConnectSettings } from "./connect-options.ts";
import type { ServerApi } from "./server-api.ts";
import { answerWith, otherServer, serverAt, untilAnswered } from "./until-answered.ts";

/** A session at one of its records, as its server sends it. */
export interface SessionSnapshot {
  readonly id: string;
  readonly agent: string;
  readonly user: string;
  readonly seq: number;
  readonly state: AgentState;
  readonly questions: readonly Question[];
  readonly incarnation: string;
  /** The digest of record `seq`. */
  readonly digest: string;
}

/** The address of a session, after that of the server. */
export const sessionPath = (id: string): string => `/sessions/${encodeURIComponent(id)}`;

/** The URL of bytes that are stored outside the records. */
const storedUrl = /^ni:\/\/\/sha-256;([\w-]{43})$/;

/** The URL at which a page reads a file of a session. */
export function fileUrlOf(server: string, id: string, url: string): string {
  const digest = storedUrl.exec(url)?.[1];
  return digest === undefined ? url : `${server}${sessionPath(id)}/files/${digest}`;
}

/** Reads the session, which is created first if `agent` is given. Waits for a server that cannot be reached or is busy, and reports that once. */
export async function openView<Answer>(
  api: ServerApi,
  settings: ConnectSettings<Answer>,
): Promise<SessionSnapshot> {
  const { id, agent = "" } = settings;
  const path = `/agents/${encodeURIComponent(agent)}/sessions`;
  // The same key at every attempt, so that one session is created.
  const headers = { "idempotency-key": crypto.randomUUID() };
  return await untilAnswered(settings, async (signal) => {
    const found = id ?? idOf(await api.json(path, { method: "POST", headers, signal }), api.url);
    return snapshotOf(await api.json(sessionPath(found), { signal }), api.url);
  });
}

const unsupported = (message: string): ClientError => new ClientError("Unsupported", message);

/** Whether an answer has the id of a session. */
export const hasId = ({ id }: { readonly id?: unknown }): boolean => typeof id === "string";

const idOf = (created: unknown, url: string): string =>
  answerWith<{ readonly id: string }>(created, hasId, () => otherServer(url, "a session")).id;

/** Checks that this release can fold the state of a view. What the server of this protocol sends is not checked further. */
export function snapshotOf(view: unknown, url: string): SessionSnapshot {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const snapshot = view as Partial<SessionSnapshot> | null;
  const version: unknown = snapshot?.state?.version;
  if (version === undefined) throw otherServer(url, "a session");
  if (version !== stateVersion) {
    throw unsupported(
      `The server sends states of version ${JSON.stringify(version)}; this client reads version ${stateVersion}. Use the same release.`,
    );
  }
  if (typeof snapshot?.user !== "string") {
    throw unsupported(
      `${serverAt(url)} answers without the user of the session: it has other routes, as an object of @moora/cloudflare has. ` +
        "connectSession needs a server of @moora/server.",
    );
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return frozen(snapshot as SessionSnapshot);
}
