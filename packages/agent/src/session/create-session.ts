import {
  callDigest,
  drive,
  effectsAt,
  runOf,
  type AgentEffect,
  type AskHumanEffect,
  type Clock,
  type RunHost,
  type RunNotice,
} from "@moora/agent-core-effects";
import {
  parseInput,
  recordOf,
  step,
  traceOf,
  whyIgnored,
  type AgentInput,
  type AgentState,
  type AgentStep,
} from "@moora/agent-core-state-machine";
import { digestOf } from "@moora/event-log";
import { createMoorex, type CommitResult, type EffectRun } from "@moora/moorex";
import { AgentError } from "../agent-error.ts";
import type { AgentEvent, Decision, Question } from "../agent-event.ts";
import { AgentRun } from "../agent-run.ts";
import { decisionProblem } from "../decision-problem.ts";
import { decisionToInput } from "../decision-to-input.ts";
import type { Agent } from "../define-agent.ts";
import { listeners } from "../listeners.ts";
import { userMessage } from "../user-message.ts";
import { stepToEvents } from "./happenings.ts";
import { openRuns } from "./open-runs.ts";
import { effectToQuestion, questionsAt } from "./questions.ts";
import { InputRefused, type Receipt, type Session } from "./session.ts";
import { streamingOverlay } from "./streaming.ts";

/** Answers questions in place of an interactive host. */
export type OnApproval = (question: Question) => Decision | Promise<Decision>;

/** An accepted input, and what it did in full. */
export interface CommittedStep {
  readonly input: AgentInput;
  readonly step: AgentStep;
}

/** What a session is made on: where it begins, and where its inputs go before anyone sees them. */
export interface SessionBase {
  readonly id: string;
  readonly initial: AgentState;
  /** How many inputs led there. */
  readonly seq: number;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  /** Whether this host runs effects; otherwise it only looks on and posts. */
  readonly runsEffects: boolean;
  readonly onApproval?: OnApproval | undefined;
  /** With nobody to ask, questions are rejected instead of waiting. */
  readonly rejectsUnasked?: boolean;
  readonly commit?: (
    steps: readonly CommittedStep[],
  ) => CommitResult<AgentInput> | Promise<CommitResult<AgentInput>>;
  readonly onClose?: () => void | Promise<void>;
}

export function createSession<Answer>(agent: Agent<Answer>, base: SessionBase): Session<Answer> {
  const { id, clock, commit } = base;
  const eventListeners = listeners<[AgentEvent<Answer>]>();
  const changeListeners = listeners<[]>();
  const inputListeners = listeners<[AgentInput, AgentState, number]>();
  const overlay = streamingOverlay();
  const runs = openRuns(agent, eventListeners.emit);
  /** What each transition did, for those states that are on their way to be seen. */
  const made = new Map<AgentState, AgentStep>();
  let seq = base.seq;

  const tell = (event: AgentEvent<Answer>): void => runs.tell(event);

  const notify = (notice: RunNotice): void => {
    if (notice.type === "llm-text") {
      overlay.add(notice);
      changeListeners.emit();
    }
    tell(noticeToEvent(notice));
  };

  const ask = async (effect: AskHumanEffect): Promise<void> => {
    const question = effectToQuestion(effect);
    const decide = (decision: Decision, by?: string): Promise<Receipt> =>
      session.decide(question, decision, by);
    const unasked = base.onApproval === undefined && base.rejectsUnasked === true && !runs.isWatched;
    tell({ type: "ApprovalRequested", ...question, decide });
    if (unasked) await decide({ reject: "There is nobody to ask." }, "nobody");
    if (base.onApproval !== undefined) await decideAtOnce(base.onApproval, question);
  };

  /** A decision that cannot be taken counts as a rejection: nobody else is asked, and the question would stay open. */
  const decideAtOnce = async (onApproval: OnApproval, question: Question): Promise<void> => {
    const decision = await approvalOf(onApproval, question);
    const problem = await decisionProblem(agent.parts, moorex.current(), question.toolCallId, decision);
    const reject = (why: string): Promise<Receipt> =>
      session.decide(question, { reject: `Asking failed: ${why}` }, "host");
    if (problem !== undefined) return void (await reject(problem.message));
    const receipt = await session.decide(question, decision, "host");
    if (receipt.status === "ignored" && receipt.reason === "wrong-decision")
      await reject("This decision does not answer the question.");
  };

  const hostBase = { parts: agent.parts, sessionId: id, clock, limits: agent.limits, notify, digestOf, ask };

  const run = (effect: AgentEffect, state: AgentState): EffectRun<AgentState, AgentInput> => ({
    start(dispatch, signal) {
      const host: RunHost = { ...hostBase, signal, tellNow: (input) => void dispatch(input) };
      return drive(runOf(effect, state, host), async (...inputs) => (await dispatch(...inputs)).applied > 0);
    },
  });

  const moorex = createMoorex<AgentState, AgentInput, AgentEffect>({
    initial: () => base.initial,
    transition: (input) => (state) => {
      const stepped = step(input)(state);
      if (stepped.state !== state) made.set(stepped.state, stepped);
      return stepped.state;
    },
    effectsAt: base.runsEffects ? effectsAt : () => ({}),
    runEffect: run,
    ...(commit === undefined
      ? {}
      : {
          commit: (steps) => {
            const committed = steps.flatMap(({ input, after }) => {
              const stepped = made.get(after);
              return stepped === undefined ? [] : [{ input, step: stepped }];
            });
            made.clear();
            for (const { step: stepped } of committed) made.set(stepped.state, stepped);
            return commit(committed);
          },
        }),
  });

  moorex.subscribe((notice) => {
    if (notice.type === "state-updated") published(notice.input, notice.state);
    if (notice.type === "error-caught" && notice.source === "commit")
      runs.failAll(new AgentError("MemoryError", "The log could not be written.", { cause: notice.error }));
  });

  const published = (input: AgentInput, state: AgentState): void => {
    seq += 1;
    const stepped = made.get(state);
    made.delete(state);
    inputListeners.emit(input, state, seq);
    if (stepped !== undefined) {
      for (const event of stepToEvents(input, stepped)) tell(event);
      runs.follow(input, stepped);
    }
    changeListeners.emit();
  };

  const receipt = async (...inputs: readonly AgentInput[]): Promise<Receipt> => {
    const { applied, state } = await moorex.dispatch(...inputs);
    if (applied > 0) return { status: "accepted", seq };
    const last = inputs.at(-1);
    return ignored(last, state);
  };

  const say = (input: AgentInput): Promise<Receipt> => {
    const partial = overlay.partialAt(moorex.current());
    const restarts = moorex.current().config.interjection === "restart" && partial !== "";
    const { timestamp } = input;
    return restarts
      ? receipt({ type: "re-act-cancelled", reason: "The user wrote again.", partial, timestamp }, input)
      : receipt(input);
  };

  const session: Session<Answer> = {
    id,
    ask(content) {
      const running = new AgentRun<Answer>((reason) => void session.cancel(reason));
      const failRun = (error: AgentError): void => runs.fail(running, error);
      let input: AgentInput;
      try {
        input = parsed(userMessage(content, { messageId: base.newId("user"), timestamp: clock.now() }));
      } catch (cause) {
        running.fail(new AgentError("AgentFailed", "This is no message.", { reason: "InputRefused", cause }));
        return running;
      }
      if (input.type === "user-message-received") runs.add(input.messageId, running);
      say(input).then(
        (taken) => {
          if (taken.status === "ignored")
            failRun(
              new AgentError("AgentFailed", `The message was not taken: ${taken.reason}.`, {
                reason: taken.reason,
              }),
            );
        },
        (cause: unknown) =>
          failRun(new AgentError("MemoryError", "The message could not be stored.", { cause })),
      );
      return running;
    },
    async send(content) {
      return await say(
        parsed(userMessage(content, { messageId: base.newId("user"), timestamp: clock.now() })),
      );
    },
    async dispatch(input) {
      return await receipt(parsed(input));
    },
    async decide(question, decision, by = "user") {
      const state = moorex.current();
      const problem = await decisionProblem(agent.parts, state, question.toolCallId, decision);
      if (problem !== undefined) throw new InputRefused(problem);
      const name = recordOf(state, question.toolCallId)?.name ?? "";
      const digestOfChange = (parameters: string): string =>
        callDigest(state, hostBase, question.toolCallId, name, parameters);
      return await receipt(
        parsed(decisionToInput(question, decision, { by, timestamp: clock.now(), digestOfChange })),
      );
    },
    async cancel(reason) {
      const partial = overlay.partialAt(moorex.current());
      return await receipt({
        type: "re-act-cancelled",
        ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
        ...(partial === "" ? {} : { partial }),
        timestamp: clock.now(),
      });
    },
    questions: () => questionsAt(moorex.current()),
    current: () => overlay.viewOf(moorex.current()),
    subscribe: changeListeners.add,
    onEvent: eventListeners.add,
    onInput: inputListeners.add,
    trace: () => traceOf([...runs.moves]),
    settled: () => moorex.settled(),
    async close() {
      moorex.stop();
      runs.failAll(new AgentError("Cancelled", "The session was closed.", { reason: "SessionClosed" }));
      await base.onClose?.();
    },
    [Symbol.asyncDispose]: () => session.close(),
  };
  return session;
}

function parsed(value: unknown): AgentInput {
  const result = parseInput(value);
  if (!result.ok) throw new InputRefused(result.problem);
  return result.input;
}

function ignored(input: AgentInput | undefined, state: AgentState): Receipt {
  const reason = (input === undefined ? undefined : whyIgnored(input)(state)) ?? "nothing-new";
  const decidedBy =
    input?.type === "tool-call-decided" ? recordOf(state, input.toolCallId)?.decision?.by : undefined;
  return { status: "ignored", reason, ...(decidedBy === undefined ? {} : { decidedBy }) };
}

async function approvalOf(onApproval: OnApproval, question: Question): Promise<Decision> {
  try {
    return await onApproval(question);
  } catch (error) {
    return { reject: `Asking failed: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function noticeToEvent(notice: RunNotice): AgentEvent<never> {
  switch (notice.type) {
    case "llm-text":
      return { type: "LlmToken", messageId: notice.messageId, text: notice.text };
    case "llm-reasoning":
      return { type: "LlmReasoning", text: notice.text };
    case "llm-tool-call":
      return { type: "LlmToolCall", name: notice.name };
    case "llm-warning":
      return { type: "LlmWarning", text: notice.text };
    case "tool-progress":
      return { type: "ToolCallProgress", toolCallId: notice.toolCallId, text: notice.text };
  }
}
