import { failureToError, InputRefused, SessionError, type Agent, type Question } from "@moora/agent";
import { openCallsOf, type CallSession, type UserSessions } from "@moora/agent/internal";
import type { CallProgress } from "./call-progress.ts";
import {
  answerProblem,
  answerToDecision,
  questionToForm,
  type FormAnswer,
  type QuestionForm,
} from "./question-form.ts";

/** The streams over which a client is served. Their end is not a cancel: the sessions of their calls are closed. */
export type Connection = symbol;

/** A call of the tool of an agent. */
export interface AgentCall {
  readonly agent: Agent<unknown>;
  /** The sessions of the user of the call. */
  readonly sessions: UserSessions;
  /** The task; undefined to continue a session as it is. */
  readonly task: string | undefined;
  /** The session to continue; undefined for a new one. */
  readonly session: string | undefined;
  /** The answers to the questions that an earlier round of this call has asked; undefined in its first round. */
  readonly answers: readonly AnsweredQuestion[] | undefined;
  /** The streams of the call; undefined over HTTP. */
  readonly connection: Connection | undefined;
  /** Aborted when the client cancels the call, and when the connection ends. */
  readonly signal: AbortSignal;
  readonly progress: CallProgress;
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

/** Why a loop was canceled. */
export const cancelReason = "The MCP client cancelled the call.";

/** How long the sub-agents of a session that was opened again have to ask again what was answered. */
const askAgainMs = 10_000;

/** How a round is run. */
export interface RoundOptions {
  /** Whether the session was opened for it: its sub-agents have to run before they ask again. */
  readonly isReopened: boolean;
  /** Whether an abort closes the session, and does not cancel the agent. */
  readonly isInterrupted: () => boolean;
}

/** Runs one round of a call in its session. */
export async function runRound(
  session: CallSession,
  call: AgentCall,
  { isInterrupted, isReopened }: RoundOptions,
): Promise<CallEnd> {
  const { answers, progress, signal, task } = call;
  const stop = (): void => {
    const stopped = isInterrupted() ? session.close() : cancelIfAllowed(session, call);
    void stopped.catch(() => undefined);
  };
  const unsubscribe = session.onEvent((event) => {
    if (event.type === "ToolCallStarted") progress.report(event.toolCallId, `Calls ${event.name}.`);
    if (event.type === "ToolCallProgress") progress.report(event.toolCallId, event.text);
  });
  try {
    if (signal.aborted) return await cancelEarlierRounds(session, call, isInterrupted());
    // Over HTTP the signal also aborts after the answer: the listener must not outlive the round.
    signal.addEventListener("abort", stop, { once: true });
    if (answers !== undefined && isReopened) await askedAgain(session, answers);
    const decided = answers && (await decide(session, answers, call.sessions));
    if (answers === undefined && task !== undefined && task.trim() !== "") await session.send(task);
    await settledOrAsking(session);
    return endOf(session, decided);
  } finally {
    signal.removeEventListener("abort", stop);
    unsubscribe();
  }
}

async function cancelIfAllowed(session: CallSession, { sessions }: AgentCall): Promise<void> {
  if ((await sessions.refusal("cancel", session.id)) === undefined) await session.cancel(cancelReason);
}

/** Cancels what earlier rounds of a call have begun, for a round whose call is aborted before it begins. */
async function cancelEarlierRounds(
  session: CallSession,
  call: AgentCall,
  isInterrupted: boolean,
): Promise<CallEnd> {
  if (call.answers !== undefined && !isInterrupted) {
    await cancelIfAllowed(session, call);
    await session.settled();
  }
  return failed("The call was cancelled.");
}

/** Whether a question is one of a sub-agent. */
export const isOfSubAgent = ({ path }: QuestionRef): boolean => path !== undefined;

/** Waits until nothing is left to do, or until a sub-agent asks: the session waits for its call, and so is not settled. */
async function settledOrAsking(session: CallSession): Promise<void> {
  await settledOr(session, () => session.questions().some(isOfSubAgent));
}

/** Waits until the sub-agents ask again what was answered, or have ended; for a while only, since another reviewer may have been first. */
async function askedAgain(session: CallSession, answers: readonly AnsweredQuestion[]): Promise<void> {
  const ofSubAgents = answers.filter(isOfSubAgent);
  const isAsked = (): boolean => {
    const asked = new Set(session.questions().map(({ digest }) => digest));
    const open = new Set(openCallsOf(session.current().reActContext.control).map(({ id }) => id));
    return ofSubAgents.every(({ digest, path = [] }) => asked.has(digest) || !open.has(path[0] ?? ""));
  };
  await settledOr(session, isAsked, askAgainMs);
}

/** Waits until nothing is left to do, until a condition on questions and calls is met, or for some time. */
async function settledOr(session: CallSession, isMet: () => boolean, timeoutMs?: number): Promise<void> {
  if (isMet()) return;
  const met = Promise.withResolvers<void>();
  const timer = timeoutMs === undefined ? undefined : setTimeout(met.resolve, timeoutMs);
  const unsubscribe = session.onEvent((event) => {
    const { type } = event.type === "SubAgentEvent" ? event.event : event;
    if ((type === "ApprovalRequested" || type === "ToolCallFinished") && isMet()) met.resolve();
  });
  try {
    await Promise.race([session.settled(), met.promise]);
  } finally {
    clearTimeout(timer);
    unsubscribe();
  }
}

/** The result of the answers of a round: whether a question was closed unanswered, and by digests why answers were refused. */
interface Decided {
  readonly wasDismissed: boolean;
  readonly refusals: ReadonlyMap<string, string>;
}

/** Decides the questions in the name of the user. */
async function decide(
  session: CallSession,
  answers: readonly AnsweredQuestion[],
  sessions: UserSessions,
): Promise<Decided> {
  const forbidden = await sessions.refusal("decide", session.id);
  const questions = new Map(session.questions().map((question) => [question.digest, question]));
  const refusals = new Map<string, string>();
  let wasDismissed = false;
  for (const { answer, digest } of answers) {
    const question = questions.get(digest);
    // Another reviewer was first, or the loop has ended since.
    if (question === undefined) continue;
    const problem = forbidden ?? answerProblem(question, answer);
    const decision = problem === undefined ? answerToDecision(question, answer) : undefined;
    const refusal = decision ? await refusalOf(session.decide(question, decision, sessions.user)) : problem;
    if (refusal !== undefined) refusals.set(digest, refusal);
    else if (decision === undefined) wasDismissed = true;
  }
  return { wasDismissed, refusals };
}

/** Why an answer was refused, in words for a person; undefined if it was not. Any other error fails the round. */
async function refusalOf(decided: Promise<unknown>): Promise<string | undefined> {
  try {
    await decided;
    return undefined;
  } catch (error) {
    if (!(error instanceof InputRefused)) throw error;
    return error.message.slice(error.path === "" ? 0 : `${error.path}: `.length);
  }
}

function endOf(session: CallSession, decided: Decided | undefined): CallEnd {
  const questions = session.questions();
  const state = session.current();
  const { control } = state.reActContext;
  if (questions.length > 0) {
    const asked = questions.map((question: Question) => ({
      ...toRef(question),
      form: questionToForm(question, decided?.refusals.get(question.digest)),
    }));
    const wasDismissed = decided?.wasDismissed === true;
    return { type: "asks", session: session.id, questions: asked, wasDismissed };
  }
  if (control.type === "Done") return { type: "answered", session: session.id, text: control.answer };
  if (control.type === "Error")
    return failed(`The agent failed: ${failureToError(control.failure, state, session.trace()).message}`);
  const { lastError } = session.info();
  // Another process runs the session now.
  if (lastError instanceof SessionError) throw lastError;
  return failed(
    `The agent was interrupted or paused. Call this tool again later with the session ${session.id} and without a task.`,
  );
}

/** The end of a round that has failed. */
export const failed = (text: string): CallEnd => ({ type: "failed", text });
