import type { AgentError } from "@moora/agent-core-effects";
import { callIdempotencyKey, toolNamed } from "@moora/agent-core-effects/internal";
import { isPaused, type AgentState } from "@moora/agent-core-state-machine";
import { recordOf } from "@moora/agent-core-state-machine/internal";
import { codeAt } from "../team/member-at.ts";
import { gracefulClose } from "../durable/graceful-close.ts";
import { fixedDecision } from "../decision-to-input.ts";
import type { AgentEvent } from "../agent-event.ts";
import type { Agent } from "../define-agent.ts";
import type { ErrorListener, ErrorReport } from "../error-reports.ts";
import type { LogListener } from "../logger.ts";
import { loopBreaker } from "./broken-loop.ts";
import { registerChildren } from "./calls-at-work.ts";
import { Decisions } from "./decisions.ts";
import { hostApprovals, type ApprovalHost, type OnApproval } from "./host-approvals.ts";
import { AgentMachine } from "./agent-machine.ts";
import type { MachineBase, MachineHooks } from "./machine.ts";
import type { MessageMethods } from "./messages.ts";
import { OutsideInputs } from "./outside-inputs.ts";
import { PendingInput } from "./pending-input.ts";
import { questionsAt } from "./questions.ts";
import { checkedGraceMs } from "./session-arguments.ts";
import { sessionMethods } from "./session-methods.ts";
import { SessionOutput } from "./session-output.ts";
import type { Session } from "./session.ts";
import { SubAgents, type SubAgentsHost } from "./sub-agents.ts";

/** The options from which a session and its machine are created. */
export interface SessionBase extends MachineBase {
  readonly newId: (prefix: string) => string;
  readonly onApproval?: OnApproval | undefined;
  readonly onEvent?: ((event: AgentEvent<unknown>) => void) | undefined;
  readonly onError?: ErrorListener | undefined;
  readonly onLog?: LogListener | undefined;
  /** Whether questions are rejected instead of left open when there is no reviewer. Default: false. */
  readonly rejectsWithoutReviewer?: boolean;
  /** Returns the error with which an input from outside is refused; undefined if it may be dispatched. */
  readonly refuses?: () => Error | undefined;
  /** Returns the error with which `configure` and `note` are refused; undefined if they may be called here. */
  readonly refusesHost?: () => Error | undefined;
  /** For posts to the session of a sub-agent: whether no process runs a loop that they start there. Default: some process does. */
  readonly isUnattended?: () => Promise<boolean>;
  /** Whether this host dispatches an input for a deadline that has passed. Default: yes. */
  readonly reportsDeadlines?: () => boolean | Promise<boolean>;
  /** Called when the session cannot continue, before it is stopped with this error. */
  readonly onBroken?: (error: AgentError) => void;
  /** Called with each accepted input when its state has become the current one, before any listener of the session. */
  readonly onPublished?: MachineHooks["published"];
  /** Called when a commit failed; `key` names an effect whose input is kept, to be committed again. */
  readonly onCommitFailed?: (error: unknown, key: string | undefined) => void;
  /** The reducer threw for an input that another process made durable. */
  readonly onForeignFailed?: (error: unknown) => void;
}

/** A session with the methods that only its host calls. */
export interface HostedSession<Answer> {
  readonly session: Session<Answer>;
  /** `session.ask` that returns the control of the run, with which the host can settle it. */
  readonly ask: MessageMethods<Answer>["ask"];
  /** Dispatches inputs without the checks for inputs from outside. */
  dispatch(...inputs: readonly PendingInput[]): Promise<void>;
  state(): AgentState;
  /** Resolves when all work that runs now has ended. */
  drained(): Promise<void>;
  /** Reports an error that does not reject any call. */
  report(report: ErrorReport): void;
  /** Rejects every unfinished run. */
  failRuns(error: AgentError): void;
  /** Ends all running effects, and rejects every unfinished run and every later call with this error. */
  stop(error: AgentError): void;
}

/** A session in memory. */
export function createSession<Answer>(agent: Agent<Answer>, base: SessionBase): Session<Answer> {
  let isClosing = false;
  const { session, drained } = hostSession(agent, { ...base, startsEffects: () => !isClosing });
  const onBegin = (): void => void (isClosing = true);
  const closeIn = gracefulClose({ clock: base.clock, onBegin, drained, shutDown: session.close });
  const close: Session["close"] = async (options) => await closeIn(checkedGraceMs(options));
  return { ...session, close, [Symbol.asyncDispose]: close };
}

export function hostSession<Answer>(agent: Agent<Answer>, base: SessionBase): HostedSession<Answer> {
  let isCreated = false;
  const state = (): AgentState => machine.current();
  const dispatch: AgentMachine["dispatch"] = (...inputs) => machine.dispatch(...inputs);
  const outside = new OutsideInputs(base, dispatch);
  const decisions = new Decisions(agent, base, {
    state,
    dispatch: (...inputs) => outside.dispatch(...inputs),
    decideBelow: (question, decision, by) => subAgents.decide(question, decision, by),
    check: () => outside.check(),
  });
  const output = new SessionOutput(agent, base, {
    questions: () => [...questionsAt(state()), ...subAgents.questions()],
    decide: (question, decision, by) => decisions.decide(question, decision, by),
  });
  const hold: MachineHooks["hold"] = (isStarted) => machine.hold(isStarted);
  const subAgents = new SubAgents(agent, { ...subAgentsHost(agent, base, output, state), hold });
  const failRuns = (error: AgentError): void => output.runs.failAll(error);
  const stop = (createError: () => AgentError): void => {
    outside.stop(createError);
    machine.stop();
    if (output.runs.isOpen && outside.stopped !== undefined) failRuns(outside.stopped);
  };
  const answerAtHost = hostApprovals(approvalHost(base, output, decisions, subAgents));
  const machine = new AgentMachine(agent, base, {
    session: subAgents,
    hold: (isStarted) => outside.holding(isStarted) ?? subAgents.heldAbove(isStarted),
    heldAbove: (isStarted) => subAgents.heldAbove(isStarted),
    mayPause: () => !subAgents.endsWithTask,
    reconcile: () => void dispatch(),
    ...outputHooks(base, output),
    async ask(effect) {
      // The effects of the initial state start while the session is being created.
      if (!isCreated) await Promise.resolve();
      return await answerAtHost(effect, state());
    },
    broken: loopBreaker({
      state,
      failRuns,
      now: () => base.clock.now(),
      dispatch: (input) => dispatch(new PendingInput(input)),
      stop(error) {
        base.onBroken?.(error);
        stop(() => error);
      },
    }),
  });
  const methods = sessionMethods(agent, { base, output, machine, outside, decisions, subAgents, stop });
  registerChildren(methods.session.questions, () => subAgents.children);
  isCreated = true;
  if (base.onEvent) methods.session.onEvent(base.onEvent);
  return {
    ...methods,
    dispatch: async (...inputs) => void (await dispatch(...inputs)),
    state,
    drained: () => machine.drained(),
    report: output.errors.report,
    failRuns,
    stop: (error) => stop(() => error),
  };
}

/** What the machine reports to the output of the session, and to its base. */
const outputHooks = <Answer>(
  base: SessionBase,
  output: SessionOutput<Answer>,
): Omit<MachineHooks, "session" | "hold" | "heldAbove" | "mayPause" | "reconcile" | "ask" | "broken"> => ({
  notify: (notice) => output.progress(notice),
  isObserved: () => output.runs.isObserved,
  published: output.published,
  commitFailed: (error, key) => base.onCommitFailed?.(error, key),
  foreignFailed: (error) => base.onForeignFailed?.(error),
  failed: output.errors.report,
  logger: output.logger,
});

/** The host of the sub-agents of a session. */
const subAgentsHost = <Answer>(
  agent: Agent<Answer>,
  { id, identity = id, onApproval, onLog, rejectsWithoutReviewer = false }: SessionBase,
  {
    errors,
    runs,
    questions,
    inputs,
  }: Pick<SessionOutput<Answer>, "errors" | "runs" | "questions" | "inputs">,
  state: () => AgentState,
): Omit<SubAgentsHost, "hold"> => ({
  isPaused: () => isPaused(state()),
  onPause: (listener) =>
    inputs.add(({ type }) => {
      if (type === "session-paused" || type === "session-resumed") listener();
    }),
  onApproval,
  onLog,
  rejectsWithoutReviewer,
  hasNoReviewer: () => rejectsWithoutReviewer && !runs.isWatched,
  emit(event) {
    if (runs.isObserved) runs.emit(event);
  },
  callOf(toolCallId) {
    const name = recordOf(state(), toolCallId)?.name ?? "";
    const tool = toolNamed(codeAt(agent, state()).parts.tools, name);
    return { tool, idempotencyKey: callIdempotencyKey(identity, toolCallId) };
  },
  watch: () => questions.watch(),
  report: errors.report,
});

/** The host through which effects ask reviewers. */
const approvalHost = <Answer>(
  { onApproval, rejectsWithoutReviewer = false }: Pick<SessionBase, "onApproval" | "rejectsWithoutReviewer">,
  { errors, runs }: Pick<SessionOutput<Answer>, "errors" | "runs">,
  decisions: Decisions,
  subAgents: SubAgents,
): ApprovalHost => ({
  onApproval,
  hasNoReviewer: () => rejectsWithoutReviewer && !runs.isWatched,
  hasOneReviewer: () => subAgents.hasOneReviewer,
  emit(event) {
    runs.emit(event);
    subAgents.watch();
  },
  decide: (question, decision, by) => decisions.decide(question, decision, by),
  toInput: (question, decision, by) => decisions.toInput(question, fixedDecision(decision), by),
  problemOf: (question, decision) => decisions.problemOf(question, decision),
  failed: (error, key) => errors.report({ source: "listener", error, key }),
});
