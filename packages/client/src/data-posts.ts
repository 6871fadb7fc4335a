import type { AgentState, Json, Recipe } from "@moora/agent";
import { dataOf } from "@moora/agent-core-state-machine/internal";
import type { DataBody } from "@moora/agent-webui-protocol";
import type { ClientError } from "./client-error.ts";
import { changeToOperations } from "./data-change.ts";
import type { HistoryId } from "./history-position.ts";
import { newKey } from "./outbox.ts";
import type { Post } from "./post.ts";

interface DataPostsHost {
  readonly state: () => AgentState;
  readonly seq: () => number;
  readonly historyId: () => HistoryId;
  readonly closed: () => ClientError | undefined;
  /** Resolves when a condition holds that new records may bring about, and at the end of the session. */
  readonly until: (isReached: () => boolean) => Promise<void>;
}

/**
 * The post of a change of data. Its recipe runs when it is sent. It names the record whose data the recipe has read, and the server
 * refuses it if the data has changed since: then another post with the recipe replaces it.
 */
export function dataPost(recipe: Recipe<unknown>, host: DataPostsHost): Post {
  const { state, seq, historyId, closed, until } = host;
  let read: Json = null;
  let made: DataBody | undefined;
  const body = (): DataBody | undefined => {
    // The same at each attempt: a server knows the post by it.
    if (made !== undefined) return made;
    read = dataOf(state());
    const patches = changeToOperations(read, recipe);
    if (patches.length > 0) made = { patches: [...patches], base: { seq: seq(), ...historyId() } };
    return made;
  };
  const remake = async ({ problem }: ClientError): Promise<Post | undefined> => {
    if (problem?.code !== "data-changed" && problem?.code !== "test-failed") return undefined;
    const { seq: changedAt } = problem;
    await until(() => (changedAt === undefined ? dataOf(state()) !== read : seq() >= changedAt));
    return closed() === undefined ? dataPost(recipe, host) : undefined;
  };
  return { key: newKey(), kind: "data", body, remake };
}
