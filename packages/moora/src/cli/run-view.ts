import type { AgentError, AgentEvent, RunResult } from "@moora/agent";

/** How a run is shown: to people, or as lines of JSON. */
export interface RunView {
  show(event: AgentEvent): void;
  answered(result: RunResult): void;
  /** `words` are for people. */
  failed(error: AgentError, words: string): void;
}
