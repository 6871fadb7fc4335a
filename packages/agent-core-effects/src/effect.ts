import type { AskingStatus, Spending } from "@moora/agent-core-state-machine";

/** A model call. `requestKey` identifies the request: it is the same when the request is sent again after a crash. */
export interface CallLlmEffect {
  readonly type: "call-llm";
  readonly key: string;
  readonly purpose: "plan" | "reflect";
  readonly requestKey: string;
  /** The message that the answer streams into; empty for a reflection. */
  readonly messageId: string;
}

/** A tool call. `parameters` is JSON text; `digest` binds a decision to exactly these bytes, or is "" without one. */
export interface CallToolEffect {
  readonly type: "call-tool";
  readonly key: string;
  readonly toolCallId: string;
  readonly attempt: number;
  readonly name: string;
  readonly parameters: string;
  readonly digest: string;
  /** The reservation of the call. Undefined without a limit, or if the tool spends nothing. */
  readonly budget?: Spending;
}

/** Asks the probe of a tool for the outcome of an interrupted call. */
export interface ProbeToolEffect extends Omit<CallToolEffect, "type" | "budget"> {
  readonly type: "probe-tool";
}

/** Asks a human about a call. `about` is the kind of question. `due` is when it expires, in milliseconds since 1970, or null. */
export interface AskHumanEffect {
  readonly type: "ask-human";
  readonly key: string;
  readonly toolCallId: string;
  readonly about: AskingStatus["about"];
  readonly name: string;
  readonly parameters: string;
  /** What the tool asks in the middle of its call; absent if the call itself is the question. */
  readonly question?: string;
  readonly digest: string;
  readonly due: number | null;
  /** How often the question has been shown again, from 0. */
  readonly reminder: number;
  /** Whether the question is escalated, so that other reviewers can be asked. */
  readonly escalated: boolean;
}

/** Runs the handler of a custom state. `workKey` is the same for every attempt; `event` led to the state. */
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

/** An effect of an agent: work that its state wants done. Plain data, computed from the state. */
export type AgentEffect =
  | CallLlmEffect
  | CallToolEffect
  | ProbeToolEffect
  | AskHumanEffect
  | RunStateEffect
  | WaitUntilEffect;
