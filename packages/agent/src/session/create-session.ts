import { AgentError, callDigest, type AskHumanEffect, type Progress } from "@moora/agent-core-effects";
import {
  expiryWaitKey,
  inputTraits,
  openCallOf,
  recordOf,
  ignoredReason,
  type AgentInput,
  type AgentState,
  type AgentStep,
} from "@moora/agent-core-state-machine";
import { digestOf } from "@moora/event-log";
import type { AgentEvent, Decision, Question } from "../agent-event.ts";
import { decisionProblem } from "../decision-problem.ts";
import { decisionToInput, fixedDecision } from "../decision-to-input.ts";
import type { Agent } from "../define-agent.ts";
import { checkConfigChange } from "../validate-config.ts";
import { errorReports, type ErrorListener, type ErrorReport } from "../error-reports.ts";
import { keepAlive } from "../keep-alive.ts";
import { listeners } from "../listeners.ts";
import { agentMachine, type MachineBase } from "./machine.ts";
import { hostApprovals, type OnApproval } from "./host-approvals.ts";
import { loopBreaker } from "./broken-loop.ts";
import { noticeToEvent, transitionToEvents } from "./events.ts";
import { openQuestions } from "./open-questions.ts";
import { runTracker } from "./run-tracker.ts";
import { questionsAt } from "./questions.ts";
import { parsed } from "./parse-or-refuse.ts";
import { messageSender, type Saying } from "./messages.ts";
import { resultToDecision, settlementToResult, type Settlement } from "./settlement.ts";
import {
  checkedListener,
  checkFields,
  checkOptionalText,
  checkQuestion,
  checkSettlement,
  checkText,
} from "./session-arguments.ts";
import { InputRefused, type Receipt, type Session } from "./session.ts";
import { streamingOverlay } from "./streaming.ts";

/** What a session is made on, beside its machine. */
export interface SessionBase extends MachineBase {
  readonly newId: (prefix: string) => string;
  readonly onApproval?: OnApproval | undefined;
  readonly onError?: ErrorListener | undefined;
  /** Whether questions are rejected instead of waiting when there is no reviewer. */
  readonly rejectsUnasked?: boolean;
  /** Why an input from outside may not be offered here, undefined when it may. */
  readonly refuses?: () => Error | undefined;
  /** Why an input of the application that runs the session may not be offered here, undefined when it may. */
  readonly refusesHost?: () => Error | undefined;
  /** Whether this host reports a deadline that it finds passed. Default: yes. */
  readonly judgesDeadlines?: () => boolean | Promise<boolean>;
  /** The session cannot continue, and is about to be stopped with this error. */
  readonly onBroken?: (error: AgentError) => void;
  /** Inputs were not made durable; `key` names an effect whose input is kept, to be written again. */
  readonly onCommitFailed?: (error: unknown, key: string | undefined) => void;
}

/** A session, and the ends of it that only its host holds. */
export interface HostedSession<Answer> {
  readonly session: Session<Answer>;
  /** `session.ask`, with the end of the run that settles it. */
  readonly ask: Saying<Answer>["ask"];
  /** Offers inputs that need no checks. */
  dispatch(...inputs: readonly AgentInput[]): Promise<void>;
  state(): AgentState;
  /** Resolves when all work that runs now has ended. */
  drained(): Promise<void>;
  /** Reports an error that no caller hears of. */
  report(report: ErrorReport): void;
  /** Rejects every run that is not over. */
  failRuns(error: AgentError): void;
  /** Ends everything that runs, and rejects every run and every later call with this error. */
  stop(error: AgentError): void;
}

export const createSession = <Answer>(agent: Agent<Answer>, base: SessionBase): Session<Answer> =>
  hostSession(agent, base).session;

export function hostSession<Answer>(agent: Agent<Answer>, base: SessionBase): HostedSession<Answer> {
  const { id, identity = id, clock } = base;
  const errors = errorReports(id, base.onError);
  const listenerFailed = (error: unknown): void => errors.report({ source: "listener", error });
  const eventListeners = listeners<[AgentEvent<Answer>]>(listenerFailed);
  const changeListeners = listeners<[]>(listenerFailed);
  const inputListeners = listeners<[AgentInput, AgentState, number]>(listenerFailed);
  const overlay = streamingOverlay();
  const runs = runTracker(agent, {
    emit: eventListeners.emit,
    onError: (error) => errors.report({ source: "projection", error }),
    onOpen: base.ledger === undefined ? undefined : keepAlive(),
  });
  /** Inputs from outside whose place in the order is not known yet. */
  const places = new Map<AgentInput, number>();

  const notify = (notice: Progress): void => {
    if (notice.type === "llm-text") {
      overlay.add(notice);
      changeListeners.emit();
    }
    runs.emit(noticeToEvent(notice));
  };

  const published = (input: AgentInput, stepped: AgentStep, seq: number): void => {
    if (places.has(input)) places.set(input, seq);
    inputListeners.emit(input, stepped.state, seq);
    for (const event of transitionToEvents(input, stepped)) runs.emit(event);
    runs.follow(input, stepped);
    // Where effects run, the effect of a question announces it.
    if (!base.runsEffects) questions.announce(stepped.state);
    changeListeners.emit();
  };

  const questions = openQuestions<Answer>({
    initial: base.initial,
    current: () => session.questions(),
    decide: (question, decision, by) => session.decide(question, decision, by),
    emit: runs.emit,
    isShown: () => eventListeners.size > 0 || changeListeners.size > 0 || runs.isWatched,
    report: errors.report,
  });

  let isMade = false;
  let stopped: AgentError | undefined;
  const asking = hostApprovals({
    onApproval: base.onApproval,
    hasNoReviewer: () => base.rejectsUnasked === true && !runs.isWatched,
    emit(event) {
      runs.emit(event);
      if (base.onApproval === undefined && base.rejectsUnasked !== true) questions.watch();
    },
    decide: (question, decision, by) => session.decide(question, decision, by),
    toInput: (question, decision, by) => toDecided(question, fixedDecision(decision), by),
    problemOf: ({ toolCallId }, decision) =>
      decisionProblem(agent.parts, machine.current(), toolCallId, decision),
  });

  /** A question of the state that a session begins with comes while the session is being made. */
  const ask = async (effect: AskHumanEffect): Promise<AgentInput | undefined> => {
    if (!isMade) await Promise.resolve();
    return await asking(effect);
  };

  const breakLoop = loopBreaker({
    state: () => machine.current(),
    now: () => clock.now(),
    dispatch: (input) => machine.dispatch(input),
    failRuns: runs.failAll,
    stop(error) {
      base.onBroken?.(error);
      stop(error);
    },
  });

  const machine = agentMachine(agent, base, {
    notify,
    ask,
    published,
    commitFailed: (error, key) => base.onCommitFailed?.(error, key),
    failed: errors.report,
    broken: breakLoop,
  });

  const toDecided = (
    question: Pick<Question, "toolCallId" | "digest">,
    decision: Decision,
    by: string,
  ): AgentInput => {
    const state = machine.current();
    const name = recordOf(state, question.toolCallId)?.name ?? "";
    const digestOfChange = (parameters: string): string =>
      callDigest(state, { sessionId: identity, digestOf }, question.toolCallId, name, parameters);
    const { maxResultLength } = agent.runLimits;
    const timestamp = clock.now();
    return parsed(decisionToInput(question, decision, { by, timestamp, digestOfChange, maxResultLength }));
  };

  /** Offers inputs from outside; the receipt is the last one's. */
  const offer = async (...inputs: readonly AgentInput[]): Promise<Receipt> => {
    const last = inputs.at(-1);
    if (last === undefined) return { status: "ignored", reason: "nothing-new" };
    const refusal = base.refuses?.();
    if (refusal !== undefined) throw refusal;
    if (stopped !== undefined) throw stopped;
    places.set(last, 0);
    try {
      const { state } = await machine.dispatch(...inputs);
      const seq = places.get(last) ?? 0;
      return seq > 0 ? { status: "accepted", seq } : ignored(last, state);
    } finally {
      places.delete(last);
    }
  };

  const decide = async (
    question: Pick<Question, "toolCallId" | "digest">,
    given: Decision,
    by = "user",
  ): Promise<Receipt> => {
    checkQuestion(question);
    checkOptionalText("by", by);
    const decision = fixedDecision(given);
    const state = machine.current();
    const problem = await decisionProblem(agent.parts, state, question.toolCallId, decision);
    if (problem !== undefined) throw new InputRefused(problem);
    return await offerDecision(toDecided(question, decision, by));
  };

  /** A deadline that has passed becomes an input first: the reducer then judges the decision. */
  const offerDecision = async (input: AgentInput): Promise<Receipt> => {
    const key = passedDeadline(input, machine.current(), clock.now());
    const judges = key !== undefined && (await (base.judgesDeadlines?.() ?? true));
    if (!judges) return await offer(input);
    return await offer({ type: "deadline-passed", key, timestamp: clock.now() }, input);
  };

  const settle = async (toolCallId: string, settlement: Settlement, by = "application"): Promise<Receipt> => {
    checkText("toolCallId", toolCallId);
    checkSettlement(settlement);
    checkOptionalText("by", by);
    const timestamp = clock.now();
    const result = settlementToResult(settlement, agent.runLimits.maxResultLength, timestamp);
    const asked = resultToDecision(machine.current(), toolCallId, result);
    if (asked !== undefined) return await decide(asked.question, asked.decision, by);
    return await offer(parsed({ type: "tool-call-completed", toolCallId, result, timestamp }));
  };

  const offerOfHost = async (given: unknown): Promise<Receipt> => {
    const input = parsed(given);
    const refusal = base.refusesHost?.();
    if (refusal !== undefined) throw refusal;
    return await offer(input);
  };

  const cancel = async (reason?: string): Promise<Receipt> => {
    checkOptionalText("reason", reason);
    const partial = overlay.partialAt(machine.current());
    return await offer({
      type: "re-act-cancelled",
      ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
      ...(partial === "" ? {} : { partial }),
      timestamp: clock.now(),
    });
  };

  const messages = messageSender({
    newId: base.newId,
    clock,
    state: machine.current,
    overlay,
    runs,
    offer,
    cancel,
    open: questions.events,
  });

  const stop = (error: AgentError): void => {
    stopped ??= error;
    machine.stop();
    runs.failAll(error);
  };

  const close = async (): Promise<void> => {
    const about = { reason: "SessionClosed", state: machine.current(), trace: runs.trace() };
    stop(new AgentError("Cancelled", "The session was closed.", about));
  };

  const session: Session<Answer> = {
    id,
    ask: (content) => messages.ask(content).run,
    running() {
      const control = messages.running();
      if (control !== undefined && stopped !== undefined) runs.fail(control, stopped);
      return control?.run;
    },
    send: messages.send,
    dispatch: async (given) => {
      const input = parsed(given);
      checkAccess(input);
      return await (input.type === "tool-call-decided" ? offerDecision(input) : offer(input));
    },
    configure: async (config) => {
      checkFields("config", config);
      checkConfigChange(agent, machine.current().config, config);
      return await offerOfHost({ type: "agent-configured", config, timestamp: clock.now() });
    },
    note: async (text) => {
      checkText("text", text);
      return await offerOfHost({ type: "context-note-added", text, timestamp: clock.now() });
    },
    decide,
    settle,
    cancel,
    questions: () => questionsAt(machine.current()),
    current: () => overlay.viewOf(machine.current()),
    seq: machine.seq,
    subscribe: (listener) => changeListeners.add(checkedListener(listener)),
    onEvent: (listener) => questions.listen(eventListeners, checkedListener(listener)),
    onInput: (listener) => inputListeners.add(checkedListener(listener)),
    onError: (listener) => errors.listen(checkedListener(listener)),
    trace: runs.trace,
    settled: machine.settled,
    close,
    [Symbol.asyncDispose]: close,
  };

  isMade = true;
  return {
    session,
    ask: messages.ask,
    dispatch: async (...inputs) => void (await machine.dispatch(...inputs)),
    state: machine.current,
    drained: machine.drained,
    report: errors.report,
    failRuns: runs.failAll,
    stop,
  };
}

/** The key of the deadline that a decision comes after, though nothing has closed its question yet. */
function passedDeadline(input: AgentInput, state: AgentState, now: number): string | undefined {
  if (input.type !== "tool-call-decided") return undefined;
  const call = openCallOf(state.reActContext.control, input.toolCallId);
  if (call?.status.type !== "asking") return undefined;
  const { due, digest } = call.status;
  return due !== null && due <= now && digest === input.digest ? expiryWaitKey(call, call.status) : undefined;
}

/** Throws `InputRefused` for an input that only the runner of a session may dispatch. */
function checkAccess(input: AgentInput): void {
  const { access } = inputTraits[input.type];
  if (access === "anyone") return;
  const message = `Only the ${access === "host" ? "application that runs the session" : "runner of the session"} may dispatch ${input.type}.`;
  throw new InputRefused({ code: "not-allowed", path: "type", message });
}

function ignored(input: AgentInput, state: AgentState): Receipt {
  const reason = ignoredReason(input)(state) ?? "nothing-new";
  const decidedBy =
    input.type === "tool-call-decided" ? recordOf(state, input.toolCallId)?.decision?.by : undefined;
  return { status: "ignored", reason, ...(decidedBy === undefined ? {} : { decidedBy }) };
}
