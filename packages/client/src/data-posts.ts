import type { AgentState, Json, Recipe } from "@moora/agent";
import { dataOf } from "@moora/agent-core-state-machine/internal";
import type { DataBody, Problem } from "@moora/agent-webui-protocol";
import type { ClientError } from "./client-error.ts";
import { changeToOperations } from "./data-change.ts";
import type { HistoryId } from "./history-mark.ts";
import { newKey, type Post } from "./outbox.ts";

interface DataPostsHost {
  readonly state: () => AgentState;
  readonly seq: () => number;
  readonly historyId: () => HistoryId | undefined;
  readonly closed: () => ClientError | undefined;
  /** Resolves when a condition holds that new records may bring about, and at the end of the session. */
  readonly until: (isReached: () => boolean) => Promise<void>;
}

/**
 * Changes of data. A post names the record whose data its recipe has read, and the server refuses it if the data has changed since:
 * then the recipe runs again.
 */
export class DataPosts {
  readonly #host: DataPostsHost;

  constructor(host: DataPostsHost) {
    this.#host = host;
  }

  /** The post of a recipe, which runs when the post is sent. */
  postOf(recipe: Recipe<unknown>): Post {
    return this.#postOf(recipe, { key: newKey(), hasTest: false });
  }

  /** `hasTest`: the post contains the data that the recipe has read, for a server of an older release, which knows no base. */
  #postOf(
    recipe: Recipe<unknown>,
    { key, hasTest }: { readonly key: string; readonly hasTest: boolean },
  ): Post {
    const { state, seq, historyId, closed, until } = this.#host;
    let read: Json = null;
    let isBased = false;
    return {
      key,
      kind: "data",
      body: (): DataBody | undefined => {
        read = dataOf(state());
        const changes = changeToOperations(read, recipe);
        const id = hasTest ? undefined : historyId();
        isBased = id !== undefined;
        if (changes.length === 0) return undefined;
        if (id !== undefined) return { patches: [...changes], base: { seq: seq(), ...id } };
        return { patches: [{ op: "test", path: "", value: read }, ...changes] };
      },
      remake: async ({ problem }) => {
        // The same key: a server of this release may have applied the post before, and lost its answer.
        if (isBased && isBaseUnknown(problem)) return this.#postOf(recipe, { key, hasTest: true });
        if (problem?.code !== "data-changed" && problem?.code !== "test-failed") return undefined;
        const { seq: changedAt } = problem;
        await until(() => (changedAt === undefined ? dataOf(state()) !== read : seq() >= changedAt));
        return closed() === undefined ? this.postOf(recipe) : undefined;
      },
    };
  }
}

/** Whether a server refuses the body for a field that it does not know. */
const isBaseUnknown = (problem: Problem | undefined): boolean =>
  problem?.code === "invalid-request" && problem.path === "";
