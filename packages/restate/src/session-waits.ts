import { userMessage, type AgentInput, type AgentRun, type AgentState, type UserContent } from "@moora/agent";
import { checkIsReached, messageAsker, parseOrRefuse } from "@moora/agent/internal";
import { AnswerWait } from "./answer-wait.ts";
import type { RestateSession } from "./session-handle.ts";
import { SessionFollower, type FollowerOptions } from "./session-follower.ts";
import type { PostedResult } from "./session-messages.ts";

interface WaitsOptions extends FollowerOptions {
  readonly post: (input: AgentInput) => Promise<PostedResult>;
  readonly cancel: RestateSession["cancel"];
}

/** The calls of a handle that wait for records. Each one follows the session by itself. */
export class SessionWaits<Answer> {
  readonly #options: WaitsOptions;
  readonly #open = new Set<{ wake(): void }>();

  constructor(options: WaitsOptions) {
    this.#options = options;
  }

  ask(content: UserContent): AgentRun<Answer> {
    const { post, cancel } = this.#options;
    const wait = new AnswerWait<Answer>(this.#options);
    const { open, runs } = wait;
    return messageAsker<Answer>({
      messageOf: (given) => parseOrRefuse(userMessage(given)),
      send: async (input) => {
        const taken = await wait.send(input, post);
        if (taken.status === "accepted") void this.#during(wait, () => wait.follow());
        return taken;
      },
      cancel,
      runs,
      open,
    })(content).run;
  }

  async waitFor(isReached: (state: AgentState) => boolean): Promise<AgentState> {
    checkIsReached(isReached);
    const follower = new SessionFollower(this.#options);
    return await this.#during(follower, () => follower.waitFor(isReached));
  }

  /** Lets all of them read at once: the handle has posted an input. */
  wake(): void {
    for (const wait of this.#open) wait.wake();
  }

  async #during<Result>(wait: { wake(): void }, follow: () => Promise<Result>): Promise<Result> {
    this.#open.add(wait);
    try {
      return await follow();
    } finally {
      this.#open.delete(wait);
    }
  }
}
