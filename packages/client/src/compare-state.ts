import { canonicalJson, type AgentState } from "@moora/agent";
import { ClientError, closedError } from "./client-error.ts";
import { snapshotOf } from "./open-view.ts";
import { Unreachable, type ServerApi } from "./server-api.ts";

/** A session at the last record that a client has. `path` is that of the session. */
interface ClientPosition {
  readonly path: string;
  readonly seq: number;
  readonly state: AgentState;
}

/**
 * Compares a state with that of the server at the same record. Throws `ClientError`: `Diverged`, `Unreachable`, and the reason of the
 * signal once it is aborted.
 */
export async function compareState(
  api: ServerApi,
  { path, seq, state }: ClientPosition,
  signal: AbortSignal,
): Promise<void> {
  const view = await api.json(`${path}?at=${seq}`, { signal }).catch((error: unknown) => {
    if (signal.aborted) throw closedError(signal.reason);
    if (!(error instanceof Unreachable)) throw error;
    const message = `The state could not be compared: the server ${error.problem}. Retry.`;
    throw new ClientError("Unreachable", message, { cause: error.cause });
  });
  const snapshot = snapshotOf(view, api.url);
  if (canonicalJson(snapshot.state) === canonicalJson(state)) return;
  throw new ClientError("Diverged", `The state at record ${seq} is not that of the server. Connect again.`);
}
