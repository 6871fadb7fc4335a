import {
  AgentError,
  InputRefused,
  type AgentRun,
  type AgentState,
  type Decision,
  type Json,
  type Question,
  type Receipt,
  type Recipe,
  type ScheduleOptions,
  type UserContent,
} from "@moora/agent";
import { isLoopRunning } from "@moora/agent-core-state-machine";
import { jsonCopy } from "@moora/agent-core-state-machine/internal";
import {
  checkOptionalText,
  checkQuestion,
  contentProblem,
  RunControl,
  type SessionOutput,
} from "@moora/agent/internal";
import {
  postIdOf,
  postIdToMessageId,
  type DecisionBody,
  type MessageBody,
} from "@moora/agent-webui-protocol";
import { digestOf } from "@moora/event-log";
import { dataPost } from "./data-posts.ts";
import type { HistoryId } from "./history-position.ts";
import { newKey, type Outbox } from "./outbox.ts";
import type { Post, PostKind } from "./post.ts";
import type { StoredPost } from "./post-store.ts";
import { RecordWaits, type WaitsHost } from "./record-waits.ts";

export interface PostsHost<Answer> extends WaitsHost {
  readonly user: string;
  readonly outbox: Outbox;
  readonly output: SessionOutput<Answer>;
  readonly state: () => AgentState;
  /** The identity of the records up to `seq`. */
  readonly historyId: () => HistoryId;
  /** The question of a sub-agent is no longer open. */
  readonly onDecided: (question: Pick<Question, "toolCallId" | "path">) => void;
}

type QuestionRef = Pick<Question, "toolCallId" | "digest" | "path">;

/** The methods of a session that post. */
export class SessionPosts<Answer> {
  readonly #host: PostsHost<Answer>;
  readonly #waits: RecordWaits;

  constructor(host: PostsHost<Answer>) {
    this.#host = host;
    this.#waits = new RecordWaits(host);
  }

  readonly send = async (content: UserContent): Promise<Receipt> =>
    await this.#sendMessage(newKey(), bodyOf(content));

  readonly ask = (content: UserContent): AgentRun<Answer> => {
    const { runs } = this.#host.output;
    const control = this.#newRun();
    let body: MessageBody;
    try {
      body = bodyOf(content);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : "Invalid message.";
      control.fail(new AgentError("AgentFailed", message, { reason: "InputRefused", cause }));
      return control.run;
    }
    const key = newKey();
    runs.add(messageIdOf(this.#host.user, key), control);
    this.#sendMessage(key, body).then(
      (receipt) => {
        if (receipt.status === "ignored") runs.fail(control, ignoredError(receipt.reason));
      },
      (cause: unknown) => runs.fail(control, ...postErrors(cause)),
    );
    return control.run;
  };

  readonly running = (): AgentRun<Answer> | undefined => {
    if (!isLoopRunning(this.#host.state())) return undefined;
    const control = this.#newRun();
    const closed = this.#host.closed();
    if (closed === undefined) this.#host.output.runs.join(control);
    else control.fail(...postErrors(closed));
    return control.run;
  };

  readonly decide = async (question: QuestionRef, decision: Decision): Promise<Receipt> => {
    checkQuestion(question);
    const { toolCallId, digest, path } = question;
    const isForSubAgent = path !== undefined && path.length > 0;
    const body = { toolCallId, digest, decision: jsonOf(decision), ...(isForSubAgent ? { path } : {}) };
    const post: Post = { ...postOf("decisions", body), isForSubAgent };
    const receipt = await this.#host.outbox.add(post);
    if (!isForSubAgent) return await this.#waits.caughtUp(receipt);
    if (receipt.status === "accepted" || receipt.reason !== "wrong-decision") this.#host.onDecided(question);
    return receipt;
  };

  readonly update = async (recipe: Recipe<unknown>): Promise<Receipt> => {
    if (typeof recipe !== "function")
      throw new InputRefused({ code: "wrong-shape", path: "recipe", message: "must be a function." });
    const until = (isReached: () => boolean): Promise<void> => this.#waits.until(isReached);
    return await this.#waits.caughtUp(
      await this.#host.outbox.add(dataPost(recipe, { ...this.#host, until })),
    );
  };

  readonly cancel = async (reason?: string): Promise<Receipt> =>
    await this.#post("cancel", withReason(reason));

  readonly pause = async (reason?: string): Promise<Receipt> => await this.#post("pause", withReason(reason));

  readonly resume = async (): Promise<Receipt> => await this.#post("resume", {});

  readonly retry = async (): Promise<Receipt> => await this.#post("retry", {});

  readonly schedule = async (options: ScheduleOptions): Promise<string> => {
    const { id = newKey(), at, ...same } = options;
    const body = { ...same, id, at: at instanceof Date ? Number(at) : at };
    const receipt = await this.#post("schedule", body);
    if (receipt.status === "accepted" || receipt.reason === "nothing-new") return id;
    throw new InputRefused({ code: receipt.reason, path: "", message: `Ignored: ${receipt.reason}.` });
  };

  readonly unschedule = async (id: string): Promise<Receipt> => await this.#post("unschedule", { id });

  /** Sends what an earlier page has stored. Reports what the server refuses. */
  restore(stored: readonly StoredPost[]): void {
    for (const { key, kind, body } of stored) {
      // A page of this release has stored it; the server checks it again.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const given = body as MessageBody & DecisionBody;
      const post: Post =
        kind === "messages"
          ? this.#messageOf(key, given)
          : { key, kind, body: () => given, isForSubAgent: given.path !== undefined };
      this.#host.outbox.enqueue(post, this.#contains(post)).catch((error: unknown) => {
        if (this.#host.closed() === undefined) this.#host.output.errors.report({ source: "log", error });
      });
    }
  }

  #contains({ messageId }: Post): boolean {
    return messageId !== undefined && this.#host.state().messages.some(({ id }) => id === messageId);
  }

  /** Continues the calls whose condition holds now; all of them at the end of the session. */
  follow(): void {
    this.#waits.check();
  }

  async #post(kind: PostKind, body: object): Promise<Receipt> {
    return await this.#waits.caughtUp(await this.#host.outbox.add(postOf(kind, body)));
  }

  async #sendMessage(key: string, body: MessageBody): Promise<Receipt> {
    return await this.#waits.caughtUp(await this.#host.outbox.add(this.#messageOf(key, body)));
  }

  #messageOf(key: string, body: MessageBody): Post {
    const messageId = messageIdOf(this.#host.user, key);
    return { key, kind: "messages", content: body.content, messageId, body: () => body };
  }

  #newRun(): RunControl<Answer> {
    const { runs, questions } = this.#host.output;
    const control: RunControl<Answer> = new RunControl(
      (reason) => {
        this.cancel(reason).catch((cause: unknown) => runs.fail(control, ...postErrors(cause)));
      },
      () => [...runs.started(), ...questions.events()],
    );
    return control;
  }
}

const postOf = (kind: PostKind, body: object): Post => ({
  key: newKey(),
  kind,
  body: () => body,
});

/** The id that a server gives the message of a user. */
const messageIdOf = (user: string, key: string): string =>
  postIdToMessageId(postIdOf(digestOf, { kind: "messages", user, key }));

function bodyOf(content: UserContent): MessageBody {
  const problem = contentProblem(content);
  if (problem !== undefined) throw new InputRefused(problem);
  return typeof content === "string" ? { content } : content;
}

/** A decision as JSON keeps it. Throws `InputRefused` where JSON would change a value: the call would run with others. */
function jsonOf(decision: Decision): Json {
  const given = typeof decision === "object" ? withoutUndefined(decision) : decision;
  const copied = jsonCopy(given);
  if ("copy" in copied) return copied.copy;
  const { code, path, message } = copied.problem;
  throw new InputRefused({ code, path: path === "" ? "decision" : `decision.${path}`, message });
}

const withoutUndefined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function withReason(reason: string | undefined): object {
  checkOptionalText("reason", reason);
  return reason === undefined ? {} : { reason };
}

const ignoredError = (reason: string): AgentError =>
  new AgentError("AgentFailed", `The message was ignored: ${reason}.`, { reason });

/** The error that the events of a run show for a post that failed, and what the run rejects with: the `ClientError` itself. */
function postErrors(cause: unknown): [error: AgentError, thrown: Error] {
  if (cause instanceof AgentError) return [cause, cause];
  const thrown = cause instanceof Error ? cause : new Error("The post failed.", { cause });
  const reason = "code" in thrown ? { reason: String(thrown.code) } : {};
  return [new AgentError("Conflict", thrown.message, { ...reason, cause }), thrown];
}
