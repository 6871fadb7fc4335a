import type {
  AgentInput,
  AgentUsage,
  InputOf,
  LlmCallFailedInput,
  TurnPart,
} from "@moora/agent-core-state-machine";
import { noAgentUsage } from "@moora/agent-core-state-machine/internal";

/** A call of `callsMade`. Defaults: parameters `{}`, the digest `digest-<id>`. */
export interface MadeCall {
  readonly name: string;
  readonly parameters?: unknown;
  readonly needsApproval?: boolean;
  readonly digest?: string;
}

/** Further fields of a turn of `callsMade` or `answered`. Default: none. */
export interface MadeTurn {
  readonly text?: string;
  readonly reasoning?: string;
  readonly confidence?: number;
  readonly cut?: boolean;
  readonly usage?: Partial<AgentUsage>;
  /** Default: an id that is made from the key of the call. */
  readonly messageId?: string;
  readonly at?: number;
}

/** The model calls tools: `callsMade("plan/1/1/1", { call_1: { name: "search" } })`. */
export function callsMade(
  key: string,
  calls: Readonly<Record<string, MadeCall>>,
  made: MadeTurn = {},
): InputOf<"re-act-observed"> {
  const at = made.at ?? 1;
  const toolCalls = Object.fromEntries(
    Object.entries(calls).map(([id, { name, parameters = {}, ...more }]) => [
      id,
      {
        name,
        parameters: typeof parameters === "string" ? parameters : JSON.stringify(parameters),
        calledAt: at,
        digest: `digest-${id}`,
        ...more,
      },
    ]),
  );
  const parts = Object.keys(calls).map((toolCallId): TurnPart => ({ type: "call", toolCallId }));
  return observed(key, [...spoken(made), ...parts], { type: "continue-re-act", toolCalls }, made);
}

/** The model answers. */
export const answered = (
  key: string,
  text: string,
  made: MadeTurn & { readonly problem?: string } = {},
): InputOf<"re-act-observed"> => {
  const observation = {
    type: "complete-re-act",
    ...(made.problem === undefined ? {} : { problem: made.problem }),
  } as const;
  return observed(key, spoken({ ...made, text }), observation, made);
};

function spoken({ text, reasoning }: MadeTurn): readonly TurnPart[] {
  const thought: TurnPart[] =
    reasoning === undefined ? [] : [{ type: "reasoning", text: reasoning, raw: { signature: reasoning } }];
  return [...thought, ...(text === undefined ? [] : [{ type: "text", text } as const])];
}

function observed(
  key: string,
  parts: readonly TurnPart[],
  observation: InputOf<"re-act-observed">["observation"],
  { confidence, cut, usage, messageId = `answer-${key}`, at = 1 }: MadeTurn,
): InputOf<"re-act-observed"> {
  return {
    type: "re-act-observed",
    key,
    messageId,
    calledLlmAt: at,
    timestamp: at,
    observation,
    turn: { origin: "test/model", parts },
    usage: { ...noAgentUsage, inputTokens: 10, outputTokens: 5, ...usage },
    ...(confidence === undefined ? {} : { confidence }),
    finish: { unified: cut === true ? "length" : "stop", raw: cut === true ? "length" : "stop" },
  };
}

/** A model call fails. Default: without a retry. */
export const callFailed = (
  key: string,
  kind: LlmCallFailedInput["failure"]["kind"],
  {
    retryable = false,
    partial,
    retryAfterMs,
    at = 1,
  }: {
    readonly retryable?: boolean;
    readonly partial?: string;
    readonly retryAfterMs?: number;
    readonly at?: number;
  } = {},
): AgentInput => ({
  type: "llm-call-failed",
  key,
  failure: {
    kind,
    message: `It failed: ${kind}.`,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  },
  ...(partial === undefined ? {} : { partial }),
  timestamp: at,
});

/** The intent of a model call is recorded. */
export const llmStarted = (key: string, at = 1): AgentInput => ({
  type: "llm-call-started",
  key,
  timestamp: at,
});

/** A reflection ends with a summary of the transcript. */
export const summarized = (key: string, summary: string, at = 1): AgentInput => ({
  type: "history-reflected",
  key,
  summary,
  timestamp: at,
});
