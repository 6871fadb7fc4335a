import { refuse, type OptionForms } from "@moora/agent-core-effects/internal";
import { protocolVersion, type SessionPage, type SessionSummary } from "@moora/agent-webui-protocol";
import { ClientError, problemToError } from "./client-error.ts";
import { hasId, sessionPath } from "./open-view.ts";
import { ServerApi } from "./server-api.ts";
import {
  checkServerOptions,
  serverForms,
  serverSettingsOf,
  type ServerOptions,
  type ServerSettings,
} from "./server-options.ts";
import { answerWith, otherServer, untilAnswered } from "./until-answered.ts";

/** The options of `listSessions`. */
export interface ListOptions extends ServerOptions {
  /** The `next` of the page before. Default: the first page. */
  readonly after?: string;
  /** The length of the page, at most 200. Default: 50. */
  readonly limit?: number;
}

/** The options of `removeSession`. */
export interface RemoveOptions extends ServerOptions {
  /** The id of the session. */
  readonly id: string;
}

/** The options of `forkSession`. */
export interface ForkOptions extends ServerOptions {
  /** The id of the session whose records the fork begins with. */
  readonly id: string;
  /** The last record that the fork has; 0 for none. Default: the newest one. */
  readonly at?: number;
}

const listForms: OptionForms<ListOptions> = { ...serverForms, after: "string", limit: "positiveInteger" };
const removeForms: OptionForms<RemoveOptions> = { ...serverForms, id: "string" };
const forkForms: OptionForms<ForkOptions> = { ...removeForms, at: "number" };

/**
 * Lists the own sessions of the user on a server, ordered by id: one page, whose `next` is the `after` of the next one, and null after
 * the last. Waits until the server can be reached, as `connectSession` does. Rejects with `ClientError` for what the server
 * refuses, and with `BuildError` for invalid options.
 */
export async function listSessions(options: ListOptions): Promise<SessionPage> {
  const settings = settingsFor("listSessions", options, listForms);
  const { after, limit } = options;
  const query = new URLSearchParams({
    ...(after === undefined ? {} : { after }),
    ...(limit === undefined ? {} : { limit: String(limit) }),
  });
  const api = new ServerApi(settings);
  const page = await untilAnswered(
    settings,
    async (signal) => await api.json(`/sessions?${query.toString()}`, { signal }),
  );
  return answerWith<SessionPage>(page, isPage, () => otherServer(api.url, "a list of sessions"));
}

/**
 * Forks a session on its server: a new session of the user, from the records of one that the user may read. Returns its id, its agent
 * and its last record. A request whose answer is lost is repeated with the same idempotency key, so that one fork is made. Waits and
 * rejects as `listSessions` does.
 */
export async function forkSession(options: ForkOptions): Promise<SessionSummary> {
  const settings = settingsOfSession("forkSession", options, forkForms);
  const { id, at } = options;
  const headers = { "idempotency-key": crypto.randomUUID() };
  const body = at === undefined ? {} : { at };
  const api = new ServerApi(settings);
  const path = `${sessionPath(id)}/fork`;
  const fork = await untilAnswered(settings, async (signal) => {
    return await api.json(path, { method: "POST", headers, body, signal }).catch(refusedPosition);
  });
  return answerWith<SessionSummary>(fork, hasId, () => otherServer(api.url, "a session"));
}

/**
 * Removes a session from its server, with all its records and the sessions of its sub-agents. Rejects with `NotFound` if there is no
 * such session, unless an earlier attempt, whose answer was lost, may have removed it. Waits and rejects as `listSessions` does.
 */
export async function removeSession(options: RemoveOptions): Promise<void> {
  const settings = settingsOfSession("removeSession", options, removeForms);
  const api = new ServerApi(settings);
  await untilAnswered(settings, async (signal, mayBeApplied) => {
    try {
      const answer = await api.json(sessionPath(options.id), { method: "DELETE", signal });
      if (answer !== String(protocolVersion)) throw otherServer(api.url, "the version of its protocol");
    } catch (error) {
      if (!(mayBeApplied && error instanceof ClientError && error.code === "NotFound")) throw error;
    }
  });
}

const isPage = ({ sessions }: Partial<SessionPage>): boolean => Array.isArray(sessions);

/** The history of a session is the same where a fork asks for a record that it does not have. */
function refusedPosition(error: unknown): never {
  if (error instanceof ClientError && error.problem?.code === "cursor-beyond-end")
    throw problemToError(error.problem, "Refused");
  throw error;
}

function settingsFor<Options extends ServerOptions>(
  caller: string,
  options: Options,
  forms: OptionForms<Options>,
): ServerSettings {
  checkServerOptions(caller, options, forms);
  return serverSettingsOf(caller, options);
}

function settingsOfSession<Options extends RemoveOptions>(
  caller: string,
  options: Options,
  forms: OptionForms<Options>,
): ServerSettings {
  const settings = settingsFor(caller, options, forms);
  // Callers without types may leave it out.
  if (typeof options.id !== "string" || options.id === "") refuse(`${caller} needs id, the id of a session.`);
  return settings;
}
