import type { Agent, Tool } from "@moora/agent";
import { settingsOf, type ConnectOptions } from "./connect-options.ts";
import { ConnectedSession } from "./connected-session.ts";
import { openView } from "./open-view.ts";
import { readStoredPosts, scopeOf } from "./post-store.ts";
import type { RemoteSession } from "./remote-session.ts";
import { ServerApi } from "./server-api.ts";

/** An agent, whatever its types. */
type AnyAgent = Agent<unknown>;

/** The session of an agent: `RemoteSessionOf<typeof agent>` has the types of its answers, its data and its tools. */
export type RemoteSessionOf<Type> =
  Type extends Agent<infer Answer, infer Data, infer Tools> ? RemoteSession<Answer, Data, Tools> : never;

/** The options for an agent that is named. Without a name this form of the function takes nothing, so that the other one is meant. */
type OptionsFor<Type> = [Type] extends [never]
  ? never
  : Type extends Agent<infer Answer>
    ? ConnectOptions<Answer>
    : never;

/**
 * Connects to a session of a server, or creates one. The session starts with the newest state, receives each later record once, and
 * resumes after lost connections. Waits until the server can be reached, and reports to `onError` once that it waits; abort `signal`
 * to give up. Rejects with `ClientError` for what the server refuses, and throws `BuildError` for invalid options.
 * `connectSession<typeof agent>(options)` has the types of an agent: its answers, its data and its tools.
 */
export function connectSession<Type extends AnyAgent = never>(
  options: OptionsFor<Type>,
): Promise<RemoteSessionOf<Type>>;
/** The same with the types of the answers, the data and the tools, or those of the variable that the session is assigned to. */
export function connectSession<Answer = string, Data = unknown, Tools extends Tool = Tool>(
  options: ConnectOptions<Answer>,
): Promise<RemoteSession<Answer, Data, Tools>>;
/** Both forms of the function. */
export async function connectSession<Answer, Data>(options: ConnectOptions<Answer>): Promise<unknown> {
  const settings = settingsOf(options);
  const api = new ServerApi(settings);
  const snapshot = await openView(api, settings);
  const stored = await readStoredPosts(settings.storage, scopeOf(settings.url, snapshot));
  return new ConnectedSession<Answer, Data>(api, settings, snapshot, stored).session;
}
