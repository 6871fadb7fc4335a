import {
  AgentError,
  userMessage,
  type AgentInput,
  type AgentRun,
  type AgentState,
  type UserContent,
} from "@moora/agent";
import {
  checkIsReached,
  isFinal,
  lostError,
  messageAsker,
  parseOrRefuse,
  type RunControl,
} from "@moora/agent/internal";
import { errorText } from "@moora/agent-core-effects/internal";
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

  /** Posts a message, and follows the session until its run has ended. */
  ask(content: UserContent): AgentRun<Answer> {
    const { post, cancel } = this.#options;
    const during = this.#during.bind(this);
    let asked: { readonly run: RunControl<Answer>; readonly messageId: string } | undefined;
    let hasFailed = false;
    const follower = new SessionFollower<Answer>(this.#options, (output) => {
      if (asked !== undefined) output.runs.add(asked.messageId, asked.run);
    });
    const fail = (run: RunControl<Answer>, error: AgentError): void => {
      hasFailed = true;
      if (follower.output === undefined) run.fail(error);
      else follower.output.runs.fail(run, error);
      follower.wake();
    };
    const isOver = (): boolean => hasFailed || follower.output?.runs.isOpen === false;
    return messageAsker<Answer>({
      messageOf: (given) => parseOrRefuse(userMessage(given)),
      async send(input) {
        await follower.begin();
        const { applied = 0, reasons = [] } = await post(input);
        if (applied === 0) return { status: "ignored", reason: reasons[0] ?? "nothing-new" };
        void during(follower, () => follower.follow({ isOver, exists: true })).catch((error: unknown) => {
          if (asked !== undefined) fail(asked.run, unreadableError(error, follower.state));
        });
        return { status: "accepted" };
      },
      cancel,
      runs: {
        add: (messageId, run) => void (asked = { run, messageId }),
        fail,
        started: () => follower.output?.runs.started() ?? [],
      },
      open: () => follower.output?.questions.events() ?? [],
    })(content).run;
  }

  /**
   * Resolves with the first state, from the newest on, that is as `isReached` says. Rejects with what that throws, too. Waits for a session
   * that has received nothing.
   */
  async waitFor(isReached: (state: AgentState) => boolean): Promise<AgentState> {
    checkIsReached(isReached);
    const follower = new SessionFollower(this.#options);
    return await this.#during(follower, async () => {
      await follower.begin();
      const { promise, resolve } = Promise.withResolvers<AgentState>();
      let isOver = false;
      const onState = (state: AgentState): void => {
        if (isOver || !isReached(state)) return;
        isOver = true;
        resolve(state);
      };
      if (follower.state !== undefined) onState(follower.state);
      await follower.follow({ isOver: () => isOver, onState });
      return await promise;
    });
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

/** The error of a run whose session can no longer be read. */
function unreadableError(cause: unknown, state: AgentState | undefined): AgentError {
  if (isFinal(cause)) return lostError(cause, state);
  return new AgentError("MemoryError", errorText(cause), {
    ...(state === undefined ? {} : { state }),
    cause,
  });
}
