import { inputsIn, type AgentInput, type DurableSession, type Json } from "@moora/agent";
import { applyPatches, dataOf, headerToState } from "@moora/agent/internal";
import { recordedPostOf } from "../sessions/request-ids.ts";
import { callsMessageId, resultMessageId, textMessageId } from "./ag-ui-ids.ts";

/** The most versions of the data that are kept for a session. Of older ones only the numbers are known. */
const maxVersions = 100;

/** A message that a client posts. */
export interface ClientMessage {
  readonly id: string;
  readonly role: string;
}

/** What a client has seen of the data. */
export interface StateBase {
  readonly data: Json;
  /** What the data was after that, up to now; undefined if that is not known. */
  readonly later: readonly Json[] | undefined;
}

interface Version {
  readonly data: Json;
  /** The key of the post that has made it; undefined for another change. */
  readonly post: string | undefined;
}

const histories = new WeakMap<DurableSession<unknown>, Promise<DataHistory>>();

/** The newest versions of the data of a session, numbered from 0, and which of them each message shows. */
export class DataHistory {
  #versions: readonly Version[] = [];
  /** The number of the last one of them. */
  #newest = -1;
  /** The data of the new session; undefined if it was migrated. */
  #first: Json | undefined;
  /** The version with which the newest call of the model began. */
  #atCall = 0;
  /** The version that a client with this message has certainly seen. */
  readonly #shown = new Map<string, number>();
  /** The content of the newest change with this key. */
  readonly #posts = new Map<string, string>();

  /** The data history of a session. Its log is read once, and followed from then on. */
  static of(session: DurableSession<unknown>): Promise<DataHistory> {
    const known = histories.get(session);
    if (known !== undefined) return known;
    const history = new DataHistory();
    const reading = history.#follow(session);
    histories.set(session, reading);
    reading.catch(() => histories.delete(session));
    return reading;
  }

  /** The digest of the content of the newest change with a key; undefined if there is none. */
  postOf(key: string): string | undefined {
    return this.#posts.get(key);
  }

  /**
   * What a client has certainly seen: the data that the newest of its messages shows, with what it has itself posted right after that. Without
   * such a message, or if that is too old, the first data; undefined if that was migrated. `keyOf` is the key of what is posted with a message.
   */
  baseOf(messages: readonly ClientMessage[], keyOf: (messageId: string) => string): StateBase | undefined {
    const newest = messages.findLastIndex(({ id }) => this.#shown.has(id));
    const seen = this.#shown.get(messages[newest]?.id ?? "") ?? 0;
    const start = this.#newest - this.#versions.length + 1;
    const [version, ...after] = seen < start ? [] : this.#versions.slice(seen - start);
    if (version === undefined)
      return this.#first === undefined ? undefined : { data: this.#first, later: undefined };
    const run = messages.findLastIndex(({ role }, index) => role === "user" && index <= newest);
    const isPosted = after[0]?.post !== undefined;
    const users = isPosted ? messages.slice(Math.max(run, 0)).filter(({ role }) => role === "user") : [];
    const own = new Set(users.map(({ id }) => keyOf(id)));
    const others = after.findIndex(({ post = "" }) => !own.has(post));
    const count = others === -1 ? after.length : others;
    const { data } = after[count - 1] ?? version;
    return { data, later: after.slice(count).map((other) => other.data) };
  }

  async #follow(session: DurableSession<unknown>): Promise<this> {
    const initial = headerToState(session.header);
    if (initial.dataStatus !== null) this.#begin(dataOf(initial));
    await session.follow(0, (_, input) => {
      if ("patches" in input && input.patches !== undefined) this.#change(input, input.patches);
      for (const part of inputsIn(input)) {
        if (part.type === "llm-call-started") this.#atCall = this.#newest;
        const version = part.type === "re-act-observed" ? this.#atCall : this.#newest;
        for (const id of messagesOf(part)) this.#shown.set(id, version);
      }
    });
    return this;
  }

  #change(input: AgentInput, patches: Parameters<typeof applyPatches>[1]): void {
    const post = recordedPostOf(input);
    if (post !== undefined) this.#posts.set(post.key, post.content);
    const before = this.#versions.at(-1)?.data ?? null;
    const data = applyPatches(before, patches) ?? before;
    if (input.type === "data-changed" && input.version !== undefined) this.#begin(data);
    else this.#add({ data, post: post?.key });
  }

  /** Takes the first data of a version of its schema. What a client has seen before cannot be merged with it. */
  #begin(data: Json): void {
    this.#first = this.#newest === -1 ? data : undefined;
    this.#versions = [];
    this.#add({ data, post: undefined });
  }

  #add(version: Version): void {
    this.#versions = [...this.#versions, version].slice(-maxVersions);
    this.#newest += 1;
  }
}

/** The ids of the messages that a client gets after an input, except for those of users, which show only that they were sent. */
function messagesOf(input: AgentInput): readonly string[] {
  if (input.type === "llm-call-started") {
    const id = textMessageId(input.key);
    return id === undefined ? [] : [id];
  }
  if (input.type === "tool-call-completed" || input.type === "tool-call-decided")
    return [resultMessageId(input.toolCallId)];
  if (input.type !== "re-act-observed" || input.observation.type !== "continue-re-act") return [];
  return Object.keys(input.observation.toolCalls).map(callsMessageId);
}
