import {
  failureToError,
  InputRefused,
  openSession,
  SessionError,
  type Agent,
  type DurableSession,
  type LogListener,
  type Question,
} from "@moora/agent";
import type { EventLog } from "@moora/event-log";
import { KeptSessions } from "./kept-sessions.ts";
import { answerToDecision, questionToForm, type FormAnswer, type QuestionForm } from "./question-form.ts";
import { maySee, newSessionId, type User } from "./session-access.ts";

/** A call of the tool of an agent. */
export interface AgentCall {
  readonly agent: Agent<unknown>;
  readonly user: User;
  /** The task; undefined to continue a session as it is. */
  readonly task: string | undefined;
  /** The session to continue; undefined for a new one. */
  readonly session: string | undefined;
  /** The answers to the questions that an earlier round of this call has asked; undefined in its first round. */
  readonly answers: readonly AnsweredQuestion[] | undefined;
  /** Aborted when the client cancels the call. */
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

/** What identifies a question of the session of a call, or of a sub-agent below it. */
export type QuestionRef = Pick<Question, "toolCallId" | "path" | "digest">;

/** What identifies a question, without what it asks. */
export const toRef = ({ toolCallId, path, digest }: QuestionRef): QuestionRef =>
  path === undefined ? { toolCallId, digest } : { toolCallId, path, digest };

/** A question that was asked, and what the person did. */
export interface AnsweredQuestion extends QuestionRef {
  readonly answer: FormAnswer;
}

/** A question that is asked. */
export interface AskedQuestion extends QuestionRef {
  readonly form: QuestionForm;
}

/** The end of a round: an answer, a failure, or questions. `wasDismissed`: the person has closed one of them unanswered. */
export type CallEnd =
  | { readonly type: "answered"; readonly session: string; readonly text: string }
  | { readonly type: "failed"; readonly text: string }
  | {
      readonly type: "asks";
      readonly session: string;
      readonly questions: readonly AskedQuestion[];
      readonly wasDismissed: boolean;
    };

export interface CallRunnerOptions {
  readonly log: EventLog;
  readonly onError: (error: unknown) => void;
  readonly onLog?: LogListener;
}

/** What calls share: the log, and the sessions that run in this process. */
export class CallRunner {
  readonly #log: EventLog;
  readonly #onError: (error: unknown) => void;
  readonly #onLog: LogListener | undefined;
  readonly #running = new Map<string, DurableSession<unknown> | undefined>();
  readonly #kept = new KeptSessions();

  constructor({ log, onError, onLog }: CallRunnerOptions) {
    this.#log = log;
    this.#onError = onError;
    this.#onLog = onLog;
  }

  /** Runs one round of a call. Does not reject: a failure of the session is the end of the round. */
  async run(call: AgentCall): Promise<CallEnd> {
    try {
      return await this.#runChecked(call);
    } catch (error) {
      if (error instanceof SessionError || error instanceof InputRefused) return failed(error.message);
      this.#onError(error);
      return failed("The session cannot be read or written.");
    }
  }

  /** Closes the sessions that run. Their work resumes when they are opened again. */
  async close(): Promise<void> {
    await Promise.all([
      this.#kept.close(),
      ...[...this.#running.values()].map(async (session) => await session?.close()),
    ]);
  }

  async #runChecked(call: AgentCall): Promise<CallEnd> {
    const { session: wanted, task, user } = call;
    if (wanted === undefined && (task ?? "").trim() === "") return failed("A new session needs a task.");
    const isKnown =
      wanted === undefined || (maySee(user, wanted) && (await this.#log.open(wanted)) !== undefined);
    if (!isKnown) return failed(`Session ${JSON.stringify(wanted)} not found.`);
    const id = wanted ?? newSessionId(user);
    if (this.#running.has(id)) return failed(`Another call uses the session ${id}. Wait for its end.`);
    this.#running.set(id, undefined);
    try {
      return await this.#runInSession(id, call);
    } finally {
      this.#running.delete(id);
    }
  }

  async #runInSession(id: string, call: AgentCall): Promise<CallEnd> {
    const session = this.#kept.take(id) ?? (await this.#open(id, call.agent));
    this.#running.set(id, session);
    let isKept = false;
    try {
      const end = await runRound(session, call);
      isKept = end.type === "asks" && end.questions.some(isOfSubAgent);
      if (isKept) this.#kept.keep(session);
      return end;
    } finally {
      if (!isKept) await session.close();
    }
  }

  async #open(id: string, agent: Agent<unknown>): Promise<DurableSession<unknown>> {
    return await openSession(agent, {
      log: this.#log,
      id,
      onError: (error) => this.#onError(error),
      ...(this.#onLog === undefined ? {} : { onLog: this.#onLog }),
    });
  }
}

async function runRound(session: DurableSession<unknown>, call: AgentCall): Promise<CallEnd> {
  const { answers, progress, signal, task } = call;
  const stop = (): void => void session.cancel("The MCP client cancelled the call.").catch(() => undefined);
  const unsubscribe = session.onEvent((event) => {
    if (event.type === "ToolCallStarted") progress(`Calls ${event.name}.`);
    if (event.type === "ToolCallProgress") progress(event.text);
  });
  try {
    if (signal.aborted) return failed("The call was cancelled.");
    // Over HTTP the signal also aborts after the answer: the listener must not outlive the round.
    signal.addEventListener("abort", stop, { once: true });
    const wasDismissed = answers !== undefined && (await decide(session, answers, call.user ?? "mcp"));
    if (answers === undefined && task !== undefined && task.trim() !== "") await session.send(task);
    await settledOrAsking(session);
    return endOf(session, wasDismissed);
  } finally {
    signal.removeEventListener("abort", stop);
    unsubscribe();
  }
}

const isOfSubAgent = ({ path }: QuestionRef): boolean => path !== undefined;

/** Waits until nothing is left to do, or until a sub-agent asks: the session waits for its call, and so is not settled. */
async function settledOrAsking(session: DurableSession<unknown>): Promise<void> {
  if (session.questions().some(isOfSubAgent)) return;
  const asking = Promise.withResolvers<void>();
  const unsubscribe = session.onEvent((event) => {
    if (event.type === "SubAgentEvent" && event.event.type === "ApprovalRequested") asking.resolve();
  });
  try {
    await Promise.race([session.settled(), asking.promise]);
  } finally {
    unsubscribe();
  }
}

/** Decides the questions in the name of a user. Returns whether one of them was closed unanswered. */
async function decide(
  session: DurableSession<unknown>,
  answers: readonly AnsweredQuestion[],
  by: string,
): Promise<boolean> {
  // In a session that was opened for this round, sub-agents have to run before they ask again.
  if (answers.some(isOfSubAgent)) await settledOrAsking(session);
  const questions = new Map(session.questions().map((question) => [question.digest, question]));
  let wasDismissed = false;
  for (const { answer, digest } of answers) {
    const question = questions.get(digest);
    // Another reviewer was first, or the loop has ended since.
    if (question === undefined) continue;
    const decision = answerToDecision(question, answer);
    if (decision === undefined) wasDismissed = true;
    else await session.decide(question, decision, by).catch(reportRefusal);
  }
  return wasDismissed;
}

/** An answer that does not fit is refused, and its question is asked again. Any other error fails the round. */
function reportRefusal(error: unknown): void {
  if (!(error instanceof InputRefused)) throw error;
}

function endOf(session: DurableSession<unknown>, wasDismissed: boolean): CallEnd {
  const questions = session.questions();
  const state = session.current();
  const { control } = state.reActContext;
  if (questions.length > 0) {
    const asked = questions.map((question: Question) => ({
      ...toRef(question),
      form: questionToForm(question),
    }));
    return { type: "asks", session: session.id, questions: asked, wasDismissed };
  }
  if (control.type === "Done") return { type: "answered", session: session.id, text: control.answer };
  const reason =
    control.type === "Error"
      ? failureToError(control.failure, state, session.trace()).message
      : `The session rests in ${control.type}.`;
  return failed(`The agent failed: ${reason}`);
}

const failed = (text: string): CallEnd => ({ type: "failed", text });
