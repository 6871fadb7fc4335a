import type { LlmCallOptions, LlmOutcome, LlmRequest } from "@moora/llm";
import type { ToolOutcome } from "@moora/agent-core-effects";
import type { ToolDefinition } from "@moora/agent-core-state-machine";

/** A model call that waits for its outcome. */
export interface PendingLlm {
  readonly type: "llm";
  readonly host: string;
  readonly request: LlmRequest;
  readonly options: LlmCallOptions;
  readonly answer: (outcome: LlmOutcome) => void;
  readonly reject: (error: unknown) => void;
  /** The call of the simulated session whose sub-agent it is of; undefined for its own. */
  readonly within: string | undefined;
  streamed: string;
}

/** A tool that runs. */
export interface PendingTool {
  readonly type: "tool";
  readonly host: string;
  readonly name: string;
  readonly toolCallId: string;
  readonly parameters: string;
  /** A tool that ignores it continues; its result is late then. */
  readonly signal: AbortSignal;
  readonly answer: (outcome: ToolOutcome) => void;
  readonly reject: (error: unknown) => void;
  /** The call of the simulated session whose sub-agent it is of; undefined for its own. */
  readonly within: string | undefined;
  /** Whether the tool itself was executed. */
  readonly executes: boolean;
  /** What the executed tool has returned, as soon as it has. */
  returned: ToolOutcome | undefined;
}

/** A probe that was asked. */
export interface PendingProbe {
  readonly type: "probe";
  readonly host: string;
  readonly toolCallId: string;
  readonly signal: AbortSignal;
  readonly answer: (outcome: "not-run" | "unknown" | ToolOutcome) => void;
}

/** An append that is under way. */
export interface PendingAppend {
  readonly type: "append";
  readonly host: string;
  readonly finish: () => void;
}

/** A sub-agent that runs. It ends by itself, after what it waits for. */
export interface PendingSubAgent {
  readonly type: "sub-agent";
  readonly host: string;
  readonly signal: AbortSignal;
}

export type Pending = PendingLlm | PendingTool | PendingProbe | PendingAppend | PendingSubAgent;

/** Whether the caller still wants the answer. */
export const isWanted = (pending: Pending): boolean => {
  if (pending.type === "append") return true;
  return pending.type === "llm" ? pending.options.signal?.aborted !== true : !pending.signal.aborted;
};

/** One time that a tool really ran. */
export interface ToolRun {
  readonly host: string;
  readonly name: string;
  readonly toolCallId: string;
  /** The idempotency key. */
  readonly key: string;
  /** JSON text. */
  readonly parameters: string;
  readonly attempt: number;
  /** The length of the log when it began. */
  readonly atSeq: number;
  /** The replay policy of the tool as the host that ran it had it. */
  readonly replay: NonNullable<ToolDefinition["replay"]>;
}
