import { effectsAt, type AskHumanEffect } from "@moora/agent-core-effects";
import type { AgentState } from "@moora/agent-core-state-machine";
import { callFlags, hasOpenCall } from "@moora/agent-core-state-machine/internal";
import {
  showSameQuestion,
  type AgentEvent,
  type ApprovalRequested,
  type Decision,
  type Question,
  type SubAgentEvent,
} from "../agent-event.ts";
import { SessionError } from "../durable/session-error.ts";
import type { ErrorReport } from "../error-reports.ts";
import { callSafely, type Listeners } from "../listeners.ts";
import type { ToolCallStarted } from "../started-calls.ts";
import { effectToQuestion } from "./questions.ts";

/** The open questions of a session, for listeners that show and answer them. */
export interface OpenQuestions<Answer> {
  /** One event for each open question. */
  events(): readonly QuestionEvent[];
  /** Emits the questions of this state that are new. For hosts that do not run effects. */
  announce(state: AgentState): void;
  /** Checks, after a question was asked, that this process can show it. If not, reports `QuestionUnseen`, once. */
  watch(): void;
  /** Adds a listener that receives the open questions before any other event. Returns a function that removes it. */
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

/** The event of a question of this session, or of a sub-agent. */
type QuestionEvent = ApprovalRequested | SubAgentEvent;

function withPath(event: ApprovalRequested): QuestionEvent {
  const { path = [] } = event;
  const [toolCallId] = path;
  return toolCallId === undefined ? event : { type: "SubAgentEvent", toolCallId, path, event };
}

export function openQuestions<Answer>(host: QuestionsHost): OpenQuestions<Answer> {
  const { started, current, decide, emit, isShown, report } = host;
  const added = newQuestions(host.initial);
  /** Whether the next question is watched; false after the first report. */
  let isIdle = true;

  const toEvent = (question: Question): ApprovalRequested => ({
    type: "ApprovalRequested",
    ...question,
    decide: (decision, by) => decide(question, decision, by),
  });
  const events = (): readonly QuestionEvent[] => current().map((question) => withPath(toEvent(question)));
  const listenerFailed = (error: unknown): void => report({ source: "listener", error });

  return {
    events,
    announce(state) {
      for (const question of added(state)) emit(toEvent(question));
    },
    watch() {
      // A listener that exists now has received the question, even if it unsubscribes at once.
      if (!isIdle || isShown()) return;
      isIdle = false;
      // A listener may subscribe later in this turn of the event loop.
      setTimeout(() => {
        const [question] = current();
        isIdle = question === undefined || isShown();
        if (!isIdle && question !== undefined)
          report({ source: "question", error: questionUnseen(question) });
      });
    },
    listen(all, listener) {
      const greeting = greetingListener(listener, () => [...started(), ...events()], listenerFailed);
      const remove = all.add(greeting.emit);
      return () => {
        greeting.remove();
        remove();
      };
    },
  };
}

/** Returns a function that finds the new questions of a state by the keys of their effects: a reminder is new. */
function newQuestions(initial: AgentState): (state: AgentState) => readonly Question[] {
  let known = new Set(asksAt(initial).map(({ key }) => key));
  return (state) => {
    const asked = asksAt(state);
    const added = asked.filter(({ key }) => !known.has(key));
    if (added.length > 0 || asked.length < known.size) known = new Set(asked.map(({ key }) => key));
    return added.map((effect) => effectToQuestion(effect, state));
  };
}

function asksAt(state: AgentState): readonly AskHumanEffect[] {
  // Most states ask nothing: checking their open calls costs less than computing all their effects.
  const asks = hasOpenCall(state.reActContext.control, callFlags.asking);
  return asks ? Object.values(effectsAt(state)).filter((effect) => effect.type === "ask-human") : [];
}

/**
 * Wraps a listener so that it receives the running calls and the open questions before the first event, or in the next
 * microtask if no event comes sooner. After `remove` the listener receives nothing.
 */
function greetingListener<Answer>(
  listener: (event: AgentEvent<Answer>) => unknown,
  open: () => readonly (ToolCallStarted | QuestionEvent)[],
  onError: (error: unknown) => void,
): { readonly emit: (event: AgentEvent<Answer>) => unknown; readonly remove: () => void } {
  let isNew = true;
  let isRemoved = false;
  const emitSafely = (event: AgentEvent<Answer>): void => {
    if (!isRemoved) callSafely(() => listener(event), onError);
  };
  const emitOpen = (first?: AgentEvent<Answer>): void => {
    if (!isNew || isRemoved) return;
    isNew = false;
    for (const event of open()) if (!showSameQuestion(first, event)) emitSafely(event);
  };
  queueMicrotask(() => callSafely(emitOpen, onError));
  return {
    emit(event) {
      emitOpen(event);
      return isRemoved ? undefined : listener(event);
    },
    remove: () => void (isRemoved = true),
  };
}

const questionUnseen = ({ name }: Question): SessionError =>
  new SessionError(
    "QuestionUnseen",
    `The call of ${name} waits for a human, and nothing in this process shows the question: pass onApproval, listen ` +
      "with session.onEvent, or iterate over the events of ask(). session.questions() lists what is asked, and " +
      "session.decide() answers it, also from another process.",
  );
