import type { AgentInput, AgentState, Json, Recipe } from "@moora/agent";
import { dataOf } from "@moora/agent-core-state-machine/internal";
import { postIdOf, type DataBody, type Problem } from "@moora/agent-webui-protocol";
import { digestOf } from "@moora/event-log";
import type { ClientError } from "./client-error.ts";
import { changeToOperations } from "./data-change.ts";
import type { HistoryId } from "./history-position.ts";
import { newKey, type Post, type Replacement } from "./outbox.ts";

interface DataPostsHost {
  readonly user: string;
  readonly state: () => AgentState;
  readonly seq: () => number;
  readonly historyId: () => HistoryId | undefined;
  readonly closed: () => ClientError | undefined;
  /** Resolves when a condition holds that new records may bring about, and at the end of the session. */
  readonly until: (isReached: () => boolean) => Promise<void>;
}

/** A post that was sent, and the record that it has added; undefined if that has not arrived. */
interface SentPost {
  readonly id: string;
  readonly recordSeq: number | undefined;
}

/**
 * Changes of data. A post names the record whose data its recipe has read, and the server refuses it if the data has changed since:
 * then the recipe runs again.
 */
export class DataPosts {
  readonly #host: DataPostsHost;
  /** The post that is being sent, with the record that it has added, if that has arrived. */
  #sent: SentPost | undefined;

  constructor(host: DataPostsHost) {
    this.#host = host;
  }

  /** The post of a recipe, which runs when the post is sent. */
  postOf(recipe: Recipe<unknown>): Post {
    return this.#postOf(recipe, { key: newKey(), hasTest: false });
  }

  /** Takes a record that has become part of the session. The request id of a change starts with the id of its post. */
  recorded(recordSeq: number, input: AgentInput): void {
    if (input.type !== "data-changed" || this.#sent === undefined) return;
    const { id } = this.#sent;
    if (input.requestId?.startsWith(`${id}.`) === true) this.#sent = { id, recordSeq };
  }

  /** `hasTest`: the post contains the data that the recipe has read, for a server of an older release, which knows no base. */
  #postOf(
    recipe: Recipe<unknown>,
    { key, hasTest }: { readonly key: string; readonly hasTest: boolean },
  ): Post {
    const { user, state, seq, historyId } = this.#host;
    const sent: SentPost = { id: postIdOf(digestOf, { kind: "data", user, key }), recordSeq: undefined };
    let read: Json = null;
    let isBased = false;
    return {
      key,
      kind: "data",
      body: (): DataBody | undefined => {
        if (this.#sent?.id !== sent.id) this.#sent = sent;
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
        if (isBased && isBaseUnknown(problem)) return { post: this.#postOf(recipe, { key, hasTest: true }) };
        // It has: the key belongs to the post with the base.
        if (hasTest && problem?.code === "idempotency-key-reused") return await this.#recordedReceipt();
        return await this.#remakeChanged(recipe, read, problem);
      },
    };
  }

  /** The post that replaces one whose data has changed since its recipe has read it. */
  async #remakeChanged(
    recipe: Recipe<unknown>,
    read: Json,
    problem: Problem | undefined,
  ): Promise<Replacement | undefined> {
    const { state, seq, closed, until } = this.#host;
    if (problem?.code !== "data-changed" && problem?.code !== "test-failed") return undefined;
    const { seq: changedAt } = problem;
    await until(() => (changedAt === undefined ? dataOf(state()) !== read : seq() >= changedAt));
    return closed() === undefined ? { post: this.postOf(recipe) } : undefined;
  }

  /** The receipt of the post that is being sent, when its record has arrived; undefined if the session ends before. */
  async #recordedReceipt(): Promise<Replacement | undefined> {
    await this.#host.until(() => this.#sent?.recordSeq !== undefined);
    const seq = this.#sent?.recordSeq;
    return seq === undefined ? undefined : { receipt: { status: "accepted", seq } };
  }
}

/** Whether a server refuses the body for a field that it does not know. */
const isBaseUnknown = (problem: Problem | undefined): boolean =>
  problem?.code === "invalid-request" && problem.path === "";
