import type { AgentInput, AgentState, Json, Receipt, Recipe } from "@moora/agent";
import { dataOf } from "@moora/agent-core-state-machine/internal";
import { postIdOf, type DataBody, type Problem } from "@moora/agent-webui-protocol";
import { digestOf } from "@moora/event-log";
import type { ClientError } from "./client-error.ts";
import { changeToOperations } from "./data-change.ts";
import type { HistoryId } from "./history-position.ts";
import { newKey } from "./outbox.ts";
import type { Post, Replacement } from "./post.ts";

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
    return this.#postOf(recipe, newKey());
  }

  /**
   * Takes a record that has become part of the session. Returns whether it is that of the post that is being sent: the request id of
   * a change starts with the id of its post.
   */
  recorded(recordSeq: number, input: AgentInput): boolean {
    if (input.type !== "data-changed" || this.#sent === undefined) return false;
    const { id } = this.#sent;
    const isOwn = input.requestId?.startsWith(`${id}.`) === true;
    if (isOwn) this.#sent = { id, recordSeq };
    return isOwn;
  }

  /** The post of a recipe under a key, which it shares with what is sent instead to a server of an older release. */
  #postOf(recipe: Recipe<unknown>, key: string): Post {
    const { user, state, seq, historyId } = this.#host;
    const sent: SentPost = { id: postIdOf(digestOf, { kind: "data", user, key }), recordSeq: undefined };
    let read: Json = null;
    /** The body with a base, once it was sent: a server knows the post by it. */
    let based: DataBody | undefined;
    /** Whether the data that the recipe has read is posted instead of its record: the server knows no base. */
    let hasTest = false;
    const body = (): DataBody | undefined => {
      if (this.#sent?.id !== sent.id) this.#sent = sent;
      if (based !== undefined && !hasTest) return based;
      read = dataOf(state());
      const changes = changeToOperations(read, recipe);
      const id = hasTest ? undefined : historyId();
      if (changes.length === 0) return undefined;
      if (id === undefined) return { patches: [{ op: "test", path: "", value: read }, ...changes] };
      based = { patches: [...changes], base: { seq: seq(), ...id } };
      return based;
    };
    const remake = async ({ problem }: ClientError): Promise<Replacement | undefined> => {
      const receipt = this.#receiptOf(sent.id);
      if (based !== undefined && !hasTest && isBaseUnknown(problem)) {
        if (receipt !== undefined) return { receipt };
        hasTest = true;
        return { post };
      }
      if (based !== undefined && hasTest && problem?.code === "idempotency-key-reused") {
        // A server of this release has the post with the base, or works on it, and answers it alone.
        if (receipt !== undefined) return { receipt };
        hasTest = false;
        return { post, isRetry: true };
      }
      return await this.#remakeChanged(recipe, read, problem);
    };
    const post: Post = { key, kind: "data", body, remake };
    return post;
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

  /** The receipt of a post whose record has arrived. */
  #receiptOf(id: string): Receipt | undefined {
    const seq = this.#sent?.id === id ? this.#sent.recordSeq : undefined;
    return seq === undefined ? undefined : { status: "accepted", seq };
  }
}

/** Whether a server refuses the body for a field that it does not know. */
const isBaseUnknown = (problem: Problem | undefined): boolean =>
  problem?.code === "invalid-request" && problem.path === "";
