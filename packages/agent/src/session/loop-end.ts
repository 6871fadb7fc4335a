import type { AgentState, Trace } from "@moora/agent-core-state-machine";
import { AgentError, failureToError } from "../agent-error.ts";
import type { RunResult } from "../agent-run.ts";
import { answerTextAt } from "../answer-text-at.ts";
import type { Agent } from "../define-agent.ts";

export type LoopEnd<Answer> = RunResult<Answer> | AgentError;

/** What a loop came to that ended in this state. A promise only where the answer has to be checked. */
export function loopEndOf<Answer>(
  agent: Pick<Agent<Answer>, "answerOf">,
  state: AgentState,
  trace: Trace,
): AgentError | Promise<LoopEnd<Answer>> {
  const { control, step: steps, usage } = state.reActContext;
  if (control.type === "Error") return failureToError(control.failure, state, trace);
  const text = answerTextAt(state);
  return agent.answerOf(text).then(
    (answer): RunResult<Answer> => ({ answer, text, steps, usage, state, trace }),
    (cause: unknown) =>
      new AgentError("AgentFailed", cause instanceof Error ? cause.message : "The answer does not fit.", {
        reason: "AnswerInvalid",
        state,
        trace,
        cause,
      }),
  );
}
