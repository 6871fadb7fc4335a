import type { Agent, Tool } from "@moora/agent";
import { settingsOf, type ConnectOptions } from "./connect-options.ts";
import { ConnectedSession } from "./connected-session.ts";
import { openView } from "./open-view.ts";
import { readStoredPosts, scopeOf } from "./post-store.ts";
import type { RemoteSession } from "./remote-session.ts";
import { ServerApi } from "./server-api.ts";

/** The session of an agent: `RemoteSessionOf<typeof agent>` has the types of its answers, its data and its tools. */
export type RemoteSessionOf<Type> =
  Type extends Agent<infer Answer, infer Data, infer Tools> ? RemoteSession<Answer, Data, Tools> : never;

/**
 * Connects to a session of a server, or creates one. The session starts with the newest state, receives each later record once, and
 * resumes after lost connections. Waits until the server can be reached, and reports to `onError` once that it waits; abort `signal`
 * to give up. Rejects with `ClientError` for what the server refuses, and throws `BuildError` for invalid options.
 */
export async function connectSession<Answer = string, Data = unknown, Tools extends Tool = Tool>(
  options: ConnectOptions<Answer>,
): Promise<RemoteSession<Answer, Data, Tools>> {
  const settings = settingsOf(options);
  const api = new ServerApi(settings);
  const snapshot = await openView(api, settings);
  const stored = await readStoredPosts(settings.storage, scopeOf(settings.url, snapshot));
  const { session } = new ConnectedSession<Answer, Data>(api, settings, snapshot, stored);
  // The caller names the types of the tools.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return session as unknown as RemoteSession<Answer, Data, Tools>;
}
