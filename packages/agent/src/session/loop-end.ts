import { failureToError } from "../failure-to-error.ts";
import { AgentError } from "@moora/agent-core-effects";
import type { AgentState, ControlMove, Trace } from "@moora/agent-core-state-machine";
import { frozenState, newestTurnAt, textIn, transcriptOf } from "@moora/agent-core-state-machine/internal";
import type { RunResult } from "../agent-run.ts";
import { answerInvalidText } from "../answer-failure.ts";
import { answerTextAt } from "../answer-text-at.ts";
import type { Agent } from "../define-agent.ts";

/** The result of a run, or the error with which it rejects. */
export type LoopEnd<Answer> = RunResult<Answer> | AgentError;

/** The result of a loop that ended in this state. A promise only if the check of the answer is asynchronous. */
export function loopEndOf<Answer>(
  agent: Pick<Agent<Answer>, "answerOf">,
  state: AgentState,
  trace: Trace,
): AgentError | Promise<LoopEnd<Answer>> {
  const { control, step: steps } = state.reActContext;
  if (control.type === "Error") return failureToError(control.failure, state, trace);
  return checkAnswer(agent, { text: answerTextAt(state), steps, state, trace });
}

/**
 * The answer to the messages that the model has seen, when the loop continues because more messages arrived meanwhile:
 * the newest turn of the transcript, from the step of this move.
 */
export function earlyAnswerOf<Answer>(
  agent: Pick<Agent<Answer>, "answerOf">,
  { step: steps }: ControlMove,
  state: AgentState,
  trace: Trace,
): Promise<LoopEnd<Answer>> {
  const turn = transcriptOf(state).at(newestTurnAt(state));
  const text = turn?.type === "turn" ? textIn(turn.parts) : "";
  return checkAnswer(agent, { text, steps, state, trace });
}

const checkAnswer = <Answer>(
  { answerOf }: Pick<Agent<Answer>, "answerOf">,
  { text, steps, state: ended, trace }: Pick<RunResult, "text" | "steps" | "state" | "trace">,
): Promise<LoopEnd<Answer>> => {
  const state = frozenState(ended);
  return answerOf(text, state.config.answerSchema).then(
    (answer): RunResult<Answer> => ({ answer, text, steps, usage: state.reActContext.usage, state, trace }),
    (cause: unknown) =>
      new AgentError("AgentFailed", cause instanceof Error ? cause.message : "The answer does not fit.", {
        reason: "AnswerInvalid",
        publicMessage: answerInvalidText,
        state,
        trace,
        cause,
      }),
  );
};
