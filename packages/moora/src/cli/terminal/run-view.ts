import type { AgentError, AgentEvent, Question, RunResult } from "@moora/agent";

/** An open question, and the commands that decide it. */
export interface OpenQuestion {
  readonly question: Question;
  readonly commands: readonly string[];
}

/** Shows a run: as text, or as lines of JSON. */
export interface RunView {
  show(event: AgentEvent<unknown>): void;
  showResult(result: RunResult<unknown>): void;
  /** `explanation` is for people. */
  showFailure(error: AgentError, explanation: string): void;
  /** The run ends here and waits for decisions. `resume` is the command that continues it after them. */
  showWaiting(questions: readonly OpenQuestion[], resume: string): void;
}
