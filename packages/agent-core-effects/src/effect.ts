import type { AskingStatus, Spending } from "@moora/agent-core-state-machine";

/** A model call. `requestKey` is the same for the same request, also when it is made again after a crash. */
export interface CallLlmEffect {
  readonly type: "call-llm";
  readonly key: string;
  readonly purpose: "plan" | "reflect";
  readonly requestKey: string;
  /** The message that the answer streams into; empty for a reflection. */
  readonly messageId: string;
}

/** A tool call. `parameters` is JSON text; `digest` binds to exactly these bytes, where the runner stamped one. */
export interface CallToolEffect {
  readonly type: "call-tool";
  readonly key: string;
  readonly toolCallId: string;
  readonly attempt: number;
  readonly name: string;
  readonly parameters: string;
  readonly digest: string;
  /** What the call has reserved of the budget; without one there is no limit, or the tool spends nothing. */
  readonly budget?: Spending;
}

/** Asks a tool what became of a call that was broken off. */
export interface ProbeToolEffect extends Omit<CallToolEffect, "type" | "budget"> {
  readonly type: "probe-tool";
}

/** Puts a call before a human: `about` says what is to be decided. `due` is when it counts as rejected, or null. */
export interface AskHumanEffect {
  readonly type: "ask-human";
  readonly key: string;
  readonly toolCallId: string;
  readonly about: AskingStatus["about"];
  readonly name: string;
  readonly parameters: string;
  readonly digest: string;
  readonly due: number | null;
  /** 0 at first, then counted each time it is shown again. */
  readonly reminder: number;
  /** Whether it has waited long enough to be put before others. */
  readonly escalated: boolean;
}

/** Runs the handler of a state of the user's own. `workKey` is the same for every attempt, `event` led to the state. */
export interface RunStateEffect {
  readonly type: "run-state";
  readonly key: string;
  readonly workKey: string;
  readonly name: string;
  readonly attempt: number;
  readonly event: string;
}

/** Waits until `due`, in milliseconds since 1970. */
export interface WaitUntilEffect {
  readonly type: "wait-until";
  readonly key: string;
  readonly due: number;
}

/** What an agent wants done. Plain data that follows from the state. */
export type AgentEffect =
  | CallLlmEffect
  | CallToolEffect
  | ProbeToolEffect
  | AskHumanEffect
  | RunStateEffect
  | WaitUntilEffect;
