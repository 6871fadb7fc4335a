import type { AgentError } from "@moora/agent-core-effects";
import type { AgentState } from "@moora/agent-core-state-machine";
import { fixedDecision } from "../decision-to-input.ts";
import type { Agent } from "../define-agent.ts";
import type { ErrorListener, ErrorReport } from "../error-reports.ts";
import { loopBreaker } from "./broken-loop.ts";
import { Decisions } from "./decisions.ts";
import { hostApprovals, type ApprovalHost, type OnApproval } from "./host-approvals.ts";
import { agentMachine, type AgentMachine, type MachineBase, type PublishedStep } from "./machine.ts";
import type { Saying } from "./messages.ts";
import { OutsideInputs } from "./outside-inputs.ts";
import { PendingInput } from "./pending-input.ts";
import { questionsAt } from "./questions.ts";
import { sessionMethods } from "./session-methods.ts";
import { SessionOutput } from "./session-output.ts";
import type { Session } from "./session.ts";

/** What a session is made on, beside its machine. */
export interface SessionBase extends MachineBase {
  readonly newId: (prefix: string) => string;
  readonly onApproval?: OnApproval | undefined;
  readonly onError?: ErrorListener | undefined;
  /** Whether questions are rejected instead of waiting when there is no reviewer. */
  readonly rejectsUnasked?: boolean;
  /** Why an input from outside may not be dispatched here, undefined when it may. */
  readonly refuses?: () => Error | undefined;
  /** Why an input of the application that runs the session may not be dispatched here, undefined when it may. */
  readonly refusesHost?: () => Error | undefined;
  /** Whether this host reports a deadline that it finds passed. Default: yes. */
  readonly judgesDeadlines?: () => boolean | Promise<boolean>;
  /** The session cannot continue, and is about to be stopped with this error. */
  readonly onBroken?: (error: AgentError) => void;
  /** Called with each accepted input when its state has become the current one, before any listener of the session. */
  readonly onPublished?: (published: PublishedStep) => void;
  /** Inputs were not made durable; `key` names an effect whose input is kept, to be written again. */
  readonly onCommitFailed?: (error: unknown, key: string | undefined) => void;
  /** The reducer threw for an input that another process made durable. */
  readonly onForeignFailed?: (error: unknown) => void;
}

/** A session, and the ends of it that only its host holds. */
export interface HostedSession<Answer> {
  readonly session: Session<Answer>;
  /** `session.ask`, with the end of the run that settles it. */
  readonly ask: Saying<Answer>["ask"];
  /** Dispatches inputs that need no checks. */
  dispatch(...inputs: readonly PendingInput[]): Promise<void>;
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
  let isCreated = false;
  const state = (): AgentState => machine.current();
  const dispatch: AgentMachine["dispatch"] = (...inputs) => machine.dispatch(...inputs);

  const outside = new OutsideInputs(base, dispatch);
  const decisions = new Decisions(agent, base, {
    state,
    dispatch: (...inputs) => outside.dispatch(...inputs),
  });
  const output = new SessionOutput(agent, base, {
    questions: () => questionsAt(state()),
    decide: (question, decision, by) => decisions.decide(question, decision, by),
  });
  const failRuns = (error: AgentError): void => output.runs.failAll(error);
  const stop = (error: AgentError): void => {
    outside.stop(error);
    machine.stop();
    failRuns(error);
  };

  const asking = hostApprovals(approvalHost(base, output, decisions));
  const machine = agentMachine(agent, base, {
    notify: (notice) => output.progress(notice),
    async ask(effect) {
      // The effects of the state that a session begins with start while the session is being created.
      if (!isCreated) await Promise.resolve();
      return await asking(effect);
    },
    published(published) {
      base.onPublished?.(published);
      output.published(published);
    },
    commitFailed: (error, key) => base.onCommitFailed?.(error, key),
    foreignFailed: (error) => base.onForeignFailed?.(error),
    failed: output.errors.report,
    broken: loopBreaker({
      state,
      failRuns,
      now: () => base.clock.now(),
      dispatch: (input) => dispatch(new PendingInput(input)),
      stop(error) {
        base.onBroken?.(error);
        stop(error);
      },
    }),
  });
  const methods = sessionMethods(agent, { base, output, machine, outside, decisions, stop });
  isCreated = true;
  return {
    ...methods,
    dispatch: async (...inputs) => void (await dispatch(...inputs)),
    state,
    drained: machine.drained,
    report: output.errors.report,
    failRuns,
    stop,
  };
}

/** How the questions of effects are put to reviewers. */
const approvalHost = <Answer>(
  { onApproval, rejectsUnasked = false }: Pick<SessionBase, "onApproval" | "rejectsUnasked">,
  { runs, questions }: Pick<SessionOutput<Answer>, "runs" | "questions">,
  decisions: Decisions,
): ApprovalHost => ({
  onApproval,
  hasNoReviewer: () => rejectsUnasked && !runs.isWatched,
  emit(event) {
    runs.emit(event);
    if (onApproval === undefined && !rejectsUnasked) questions.watch();
  },
  decide: (question, decision, by) => decisions.decide(question, decision, by),
  toInput: (question, decision, by) => decisions.toInput(question, fixedDecision(decision), by),
  problemOf: (question, decision) => decisions.problemOf(question, decision),
});
