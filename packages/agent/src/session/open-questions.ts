import { effectsAt, type AskHumanEffect } from "@moora/agent-core-effects";
import type { AgentState } from "@moora/agent-core-state-machine";
import { openCallsOf } from "@moora/agent-core-state-machine/internal";
import type { AgentEvent, ApprovalRequested, Decision, Question } from "../agent-event.ts";
import { SessionError } from "../durable/session-error.ts";
import type { ErrorReport } from "../error-reports.ts";
import { callSafely, type Listeners } from "../listeners.ts";
import type { ToolCallStarted } from "../started-calls.ts";
import { effectToQuestion } from "./questions.ts";

/** The open questions of a session, for those who can show and answer them. */
export interface OpenQuestions<Answer> {
  /** The questions that are open now, as events. */
  events(): readonly ApprovalRequested[];
  /** Emits the questions that this state has and the states before it did not have. For where no effects run. */
  announce(state: AgentState): void;
  /** A question was put: reported once where nothing shows it. */
  watch(): void;
  /** Adds a listener that hears the calls that run and the open questions before anything else. */
  listen(all: Listeners<[AgentEvent<Answer>]>, listener: (event: AgentEvent<Answer>) => unknown): () => void;
}

export interface QuestionsHost {
  readonly initial: AgentState;
  /** The calls that run, as events that listeners have heard. */
  readonly started: () => readonly ToolCallStarted[];
  readonly current: () => readonly Question[];
  readonly decide: (question: Question, decision: Decision, by?: string) => unknown;
  readonly emit: (event: ApprovalRequested) => void;
  /** Whether something in this process can show or answer questions. */
  readonly isShown: () => boolean;
  readonly report: (report: ErrorReport) => void;
}

export function openQuestions<Answer>(host: QuestionsHost): OpenQuestions<Answer> {
  const { started, current, decide, emit, isShown, report } = host;
  const added = newQuestions(host.initial);
  /** Whether the next question is to be watched: after one report no more are. */
  let isIdle = true;

  const toEvent = (question: Question): ApprovalRequested => ({
    type: "ApprovalRequested",
    ...question,
    decide: (decision, by) => decide(question, decision, by),
  });
  const events = (): readonly ApprovalRequested[] => current().map(toEvent);
  const listenerFailed = (error: unknown): void => report({ source: "listener", error });

  return {
    events,
    announce(state) {
      for (const question of added(state)) emit(toEvent(question));
    },
    watch() {
      // What hears the question now has been shown it, also if it stops listening at once.
      if (!isIdle || isShown()) return;
      isIdle = false;
      // What listens may begin to do so later in this turn of the event loop.
      setTimeout(() => {
        const [question] = current();
        isIdle = question === undefined || isShown();
        if (!isIdle && question !== undefined) report({ source: "question", error: unseen(question) });
      });
    },
    listen(all, listener) {
      const { hear, leave } = greeted(listener, () => [...started(), ...events()], listenerFailed);
      const remove = all.add(hear);
      return () => {
        leave();
        remove();
      };
    },
  };
}

/** The questions of a state that the states before it did not have, by the keys of their effects: a reminder is new. */
function newQuestions(initial: AgentState): (state: AgentState) => readonly Question[] {
  let known = new Set(asksAt(initial).map(({ key }) => key));
  return (state) => {
    const asked = asksAt(state);
    const added = asked.filter(({ key }) => !known.has(key));
    if (added.length > 0 || asked.length < known.size) known = new Set(asked.map(({ key }) => key));
    return added.map(effectToQuestion);
  };
}

function asksAt(state: AgentState): readonly AskHumanEffect[] {
  // Most states ask nothing: looking at their open calls costs less than computing all that they want.
  const asks = openCallsOf(state.reActContext.control).some(({ status }) => status.type === "asking");
  return asks ? Object.values(effectsAt(state)).filter((effect) => effect.type === "ask-human") : [];
}

/**
 * A listener that hears the calls that run and the open questions before the first event, and where none comes as soon as
 * the code that listens has run. After `leave` it hears nothing.
 */
function greeted<Answer>(
  listener: (event: AgentEvent<Answer>) => unknown,
  open: () => readonly (ToolCallStarted | ApprovalRequested)[],
  onError: (error: unknown) => void,
): { readonly hear: (event: AgentEvent<Answer>) => void; readonly leave: () => void } {
  let isNew = true;
  let hasLeft = false;
  const give = (event: AgentEvent<Answer>): void => {
    if (!hasLeft) callSafely(() => listener(event), onError);
  };
  const greet = (first?: AgentEvent<Answer>): void => {
    if (!isNew || hasLeft) return;
    isNew = false;
    for (const event of open()) if (!isAbout(first, event)) give(event);
  };
  queueMicrotask(() => callSafely(greet, onError));
  return {
    hear(event) {
      greet(event);
      give(event);
    },
    leave: () => void (hasLeft = true),
  };
}

const isAbout = (
  first: AgentEvent<unknown> | undefined,
  event: ToolCallStarted | ApprovalRequested,
): boolean =>
  first?.type === "ApprovalRequested" &&
  event.type === "ApprovalRequested" &&
  first.toolCallId === event.toolCallId &&
  first.digest === event.digest;

const unseen = ({ name }: Question): SessionError =>
  new SessionError(
    "QuestionUnseen",
    `The call of ${name} waits for a human, and nothing in this process shows the question: pass onApproval, listen ` +
      "with session.onEvent, or iterate over the events of ask(). session.questions() lists what is asked, and " +
      "session.decide() answers it, also from another process.",
  );
