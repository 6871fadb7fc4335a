import { AgentError, type AgentInput, type AgentState } from "@moora/agent";
import { isFinal, lostError, type AskHost, type RunControl } from "@moora/agent/internal";
import { errorText } from "@moora/agent-core-effects/internal";
import type { FollowedSession } from "./followed-session.ts";
import { SessionFollower, type FollowerOptions } from "./session-follower.ts";
import type { PostedResult } from "./session-messages.ts";

type Output<Answer> = FollowedSession<Answer>["output"];

/** Follows a session until it has the answer to one message. */
export class AnswerWait<Answer> implements Pick<AskHost<Answer>, "open"> {
  readonly #follower: SessionFollower<Answer>;
  #asked: { readonly run: RunControl<Answer>; readonly messageId: string } | undefined;
  #hasFailed = false;

  constructor(options: FollowerOptions) {
    this.#follower = new SessionFollower(options, ({ output }) => {
      if (this.#asked !== undefined) output.runs.add(this.#asked.messageId, this.#asked.run);
    });
  }

  /** The run of the message, for `ask`. */
  get runs(): AskHost<Answer>["runs"] {
    return {
      add: (messageId, run) => void (this.#asked = { run, messageId }),
      fail: (run, error) => this.#fail(run, error),
      started: () => this.#output?.runs.started() ?? [],
    };
  }

  readonly open = (): ReturnType<Output<Answer>["questions"]["events"]> =>
    this.#output?.questions.events() ?? [];

  /** Reads the session, and posts the message. */
  async send(
    input: AgentInput,
    post: (input: AgentInput) => Promise<PostedResult>,
  ): ReturnType<AskHost<Answer>["send"]> {
    await this.#follower.begin();
    const { applied = 0, reasons = [] } = await post(input);
    return applied > 0 ? { status: "accepted" } : { status: "ignored", reason: reasons[0] ?? "nothing-new" };
  }

  /** Follows the session until its run has ended. */
  async follow(): Promise<void> {
    try {
      const isOver = (): boolean => this.#hasFailed || this.#output?.runs.isOpen === false;
      await this.#follower.follow({ isOver, exists: true });
    } catch (error) {
      if (this.#asked !== undefined)
        this.#fail(this.#asked.run, unreadableError(error, this.#follower.session?.state));
    }
  }

  /** Reads at once: the handle has posted an input. */
  wake(): void {
    this.#follower.wake();
  }

  get #output(): Output<Answer> | undefined {
    return this.#follower.session?.output;
  }

  #fail(run: RunControl<Answer>, error: AgentError): void {
    this.#hasFailed = true;
    if (this.#output === undefined) run.fail(error);
    else this.#output.runs.fail(run, error);
    this.#follower.wake();
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
