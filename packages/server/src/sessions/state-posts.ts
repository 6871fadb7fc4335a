import { canonicalJson, type AgentInput } from "@moora/agent";
import type { PostLedger } from "./post-ledger.ts";
import { recordedPostOf, requestIdOf, type RequestId } from "./request-ids.ts";

/** The thread of a run, and its message or the interrupts that it answers. */
export type StateRun = readonly [threadId: string, about: string | readonly string[]];

/** What a run posts: equal for the repetitions of a post. */
interface StatePost {
  readonly run: StateRun;
  readonly state: unknown;
  readonly base: unknown;
  readonly answers?: unknown;
}

/** The id of a state that a user posts for a run, after `count` others for it. */
const idOf = (user: string, run: StateRun, count: number, content?: unknown): RequestId =>
  requestIdOf({ kind: "data", user, key: canonicalJson(["ag-ui", run, count]), content });

/**
 * The id of the next state of a run; undefined if the log contains this one already, as the last of the run. A state that was posted
 * before another one is a new post: the user has changed it again.
 */
export async function newIdOf(
  ledger: PostLedger,
  user: string,
  { run, state, base = null, answers = null }: StatePost,
): Promise<RequestId | undefined> {
  let last: string | undefined;
  for (let count = 0; ; count += 1) {
    const id = idOf(user, run, count, { state, base, answers });
    const recorded = await ledger.contentOf(id);
    if (recorded === undefined) return last === id.content ? undefined : id;
    last = recorded;
  }
}

/** Finds the states that a user has posted for some runs, in the order of the log. */
export class OwnPosts {
  readonly #user: string;
  /** The next post of each run, by the key of its id. */
  readonly #next = new Map<string, readonly [run: StateRun, count: number]>();

  constructor(user: string, runs: readonly StateRun[]) {
    this.#user = user;
    for (const run of runs) this.#expect(run, 0);
  }

  /** Whether an input is one of these. To be called with each input of the log once. */
  has(input: AgentInput): boolean {
    const key = input.type === "data-changed" ? recordedPostOf(input)?.key : undefined;
    const found = key === undefined ? undefined : this.#next.get(key);
    if (found === undefined) return false;
    this.#expect(found[0], found[1] + 1);
    return true;
  }

  #expect(run: StateRun, count: number): void {
    this.#next.set(idOf(this.#user, run, count).key, [run, count]);
  }
}
