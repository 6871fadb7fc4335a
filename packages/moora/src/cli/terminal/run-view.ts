import type { AgentError, AgentEvent, Question, RunResult } from "@moora/agent";
import { oneLine } from "@moora/agent-core-effects/internal";

/** An open question, and the commands that decide it. */
export interface OpenQuestion {
  readonly question: Question;
  readonly commands: readonly string[];
}

/** A pause of the session, and the command that ends it. */
export interface Pause {
  readonly reason?: string | undefined;
  readonly command: string;
}

/** What a run waits for that no user here can do. */
export interface Waiting {
  readonly questions: readonly OpenQuestion[];
  readonly pause: Pause | undefined;
  /** The command that continues the run after that. */
  readonly resume: string;
}

export const pauseText = ({ reason, command }: Pause, where: string = ""): string =>
  `The session is paused${reason === undefined ? "" : ` (${oneLine(reason)})`}. To continue it${where}: ${command}`;

/** Shows a run: as text, or as lines of JSON. */
export interface RunView {
  show(event: AgentEvent<unknown>): void;
  showResult(result: RunResult<unknown>): void;
  /** `explanation` is for people. */
  showFailure(error: AgentError, explanation: string): void;
  /** The run ends here, and waits for people. */
  showWaiting(waiting: Waiting): void;
}
