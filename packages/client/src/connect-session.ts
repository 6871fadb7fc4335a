import type { Agent } from "@moora/agent";
import { settingsOf, type ConnectOptions } from "./connect-options.ts";
import { ConnectedSession } from "./connected-session.ts";
import { openView } from "./open-view.ts";
import { readStoredPosts, scopeOf } from "./post-store.ts";
import type { RemoteSession } from "./remote-session.ts";
import { ServerApi } from "./server-api.ts";

/** The session of an agent: `RemoteSessionOf<typeof agent>` has the types of its answers and its data. */
export type RemoteSessionOf<Type> =
  Type extends Agent<infer Answer, infer Data> ? RemoteSession<Answer, Data> : never;

/**
 * Connects to a session of a server, or creates one. The session starts with the newest state, receives each later record once, and
 * resumes after lost connections. Waits until the server can be reached, and reports to `onError` once that it waits; abort `signal`
 * to give up. Rejects with `ClientError` for what the server refuses, and throws `BuildError` for invalid options.
 */
export async function connectSession<Answer = string, Data = unknown>(
  options: ConnectOptions<Answer>,
): Promise<RemoteSession<Answer, Data>> {
  const settings = settingsOf(options);
  const api = new ServerApi(settings);
  const snapshot = await openView(api, settings);
  const stored = await readStoredPosts(settings.storage, scopeOf(settings.url, snapshot));
  return new ConnectedSession<Answer, Data>(api, settings, snapshot, stored).session;
}
