import type { LlmCallOptions, LlmOutcome, LlmRequest } from "@moora/llm";
import type { ToolOutcome } from "@moora/agent-core-effects";

/** A model call that waits for its outcome. */
export interface PendingLlm {
  readonly type: "llm";
  readonly host: string;
  readonly request: LlmRequest;
  readonly options: LlmCallOptions;
  readonly answer: (outcome: LlmOutcome) => void;
  readonly reject: (error: unknown) => void;
  streamed: string;
}

/** A tool that runs. */
export interface PendingTool {
  readonly type: "tool";
  readonly host: string;
  readonly name: string;
  readonly toolCallId: string;
  /** A tool that ignores it goes on; what it comes to then is late. */
  readonly signal: AbortSignal;
  readonly answer: (outcome: ToolOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** A probe that was asked. */
export interface PendingProbe {
  readonly type: "probe";
  readonly host: string;
  readonly toolCallId: string;
  readonly answer: (outcome: "not-run" | "unknown" | ToolOutcome) => void;
}

/** An append that is under way. */
export interface PendingAppend {
  readonly type: "append";
  readonly host: string;
  readonly finish: () => void;
}

/** Whether the one who waits still wants the answer. */
export const isWanted = (pending: Pending): boolean => {
  if (pending.type === "llm") return pending.options.signal?.aborted !== true;
  return pending.type !== "tool" || !pending.signal.aborted;
};

export type Pending = PendingLlm | PendingTool | PendingProbe | PendingAppend;

/** One time that a tool really ran. */
export interface ToolRun {
  readonly host: string;
  readonly name: string;
  readonly toolCallId: string;
  readonly key: string;
  readonly parameters: string;
  readonly attempt: number;
  /** The length of the log when it began. */
  readonly atSeq: number;
}
