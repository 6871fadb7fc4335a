import { headerToState, readSession } from "@moora/agent";
import { llmRequestAt } from "@moora/agent-core-effects";
import {
  beginReplay,
  type AgentInput,
  type AgentState,
  type InputOf,
  type TurnPart,
} from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import {
  noUsage,
  type LlmMessage,
  type LlmOutcome,
  type LlmPart,
  type LlmRequest,
  type LlmUsage,
  type ReplayedLlm,
} from "@moora/llm";
import { recordedFailure, unknownRequest } from "./recorded-failure.ts";

/** A recorded answer, with the request that it answered. */
interface Recording {
  readonly question: Question;
  readonly outcome: LlmOutcome;
}

/** The identity of a request, independent of the system prompt, the tools and their results. */
interface Question {
  readonly purpose: LlmRequest["purpose"];
  /** The messages of the user, as JSON text, oldest first. */
  readonly users: readonly string[];
  /** The number of turns of the model since the last message of the user. */
  readonly turns: number;
}

/**
 * A model that answers with the recorded turns of a session, in their order, so that other tools and prompts can be run
 * against them without a key. Prompts, tools and results of tools may differ from the recorded ones. A request after
 * other user messages, after more turns, or past the end of the recording fails as `invalid-request` with a message that
 * names what the recording has instead. Rejects with `SessionUnknown` and `LogCorrupt`.
 */
export async function replayedSession(log: EventLog, id: string): Promise<ReplayedLlm> {
  const { header, inputs } = await readSession(log, id);
  let left = recordingsIn(inputs, headerToState(header));
  const callSync = (request: LlmRequest): LlmOutcome => {
    const question = questionOf(request);
    const at = left.findIndex((recording) => isSame(recording.question, question));
    const found = left[at];
    if (found === undefined) return unknownRequest(id, question, left[0]?.question);
    left = left.slice(at + 1);
    return found.outcome;
  };
  return {
    name: `recorded ${id}`,
    get left() {
      return left.length;
    },
    callSync,
    call: (request, { onChunk } = {}) => {
      const outcome = callSync(request);
      for (const part of outcome.ok ? outcome.turn.parts : [])
        if (part.type === "text") onChunk?.({ type: "text", text: part.text });
      return Promise.resolve(outcome);
    },
  };
}

function recordingsIn(inputs: readonly AgentInput[], from: AgentState): readonly Recording[] {
  const replay = beginReplay(from);
  const recordings: Recording[] = [];
  for (const input of inputs) {
    const state = replay.state();
    const request = llmRequestAt(state);
    const outcome = request === undefined ? undefined : outcomeOf(input, state, request.model);
    if (request !== undefined && outcome !== undefined)
      recordings.push({ question: questionOf(request), outcome });
    replay.apply(input);
  }
  return recordings;
}

const questionOf = ({ purpose, messages }: LlmRequest): Question => ({
  purpose,
  users: messages.flatMap((message) => (message.role === "user" ? [JSON.stringify(message.content)] : [])),
  turns: messages.slice(messages.findLastIndex(isUser) + 1).filter(({ role }) => role === "assistant").length,
});

const isUser = ({ role }: LlmMessage): boolean => role === "user";

/** Whether two lists of user messages agree: the windows may differ in length, but the common part must be equal. */
function isSame(recorded: Question, asked: Question): boolean {
  if (recorded.purpose !== asked.purpose) return false;
  if (recorded.purpose === "reflect") return true;
  const shown = Math.min(recorded.users.length, asked.users.length);
  return (
    recorded.turns === asked.turns &&
    recorded.users.slice(-shown).join("\n") === asked.users.slice(-shown).join("\n")
  );
}

/** The outcome that an input reports of a model call; undefined for an input that reports none. */
function outcomeOf(input: AgentInput, state: AgentState, model: string): LlmOutcome | undefined {
  if (input.type === "re-act-observed") return observedOutcome(input, state, model);
  if (input.type === "llm-call-failed") return recordedFailure(input);
  if (input.type !== "history-reflected") return undefined;
  return answerOutcome([{ type: "text", text: input.summary }], "", model, usageOf(input.usage));
}

function observedOutcome(input: InputOf<"re-act-observed">, state: AgentState, model: string): LlmOutcome {
  const { turn, observation, messageId, finish, confidence } = input;
  const calls = observation.type === "continue-re-act" ? observation.toolCalls : {};
  const parts = turn?.parts.flatMap((part) => partOf(part, calls)) ?? [
    ...textOf(state, messageId),
    ...Object.keys(calls).flatMap((toolCallId) => partOf({ type: "call", toolCallId }, calls)),
  ];
  const outcome = answerOutcome(parts, turn?.origin ?? "", model, usageOf(input.usage));
  return {
    ...outcome,
    turn: { ...outcome.turn, ...(turn?.raw === undefined ? {} : { raw: turn.raw }) },
    ...(finish === undefined ? {} : { finish }),
    ...(confidence === undefined ? {} : { confidence }),
  };
}

type Calls = Extract<
  InputOf<"re-act-observed">["observation"],
  { readonly type: "continue-re-act" }
>["toolCalls"];

function partOf(part: TurnPart, calls: Calls): readonly LlmPart[] {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "file":
    case "opaque":
      return [part];
    case "internal-call":
      return [{ type: "tool-call", id: part.name, name: part.name, arguments: part.arguments }];
    case "call": {
      const call = Object.hasOwn(calls, part.toolCallId) ? calls[part.toolCallId] : undefined;
      if (call === undefined) return [];
      const raw = part.raw === undefined ? {} : { raw: part.raw };
      return [
        { type: "tool-call", id: part.toolCallId, name: call.name, arguments: call.parameters, ...raw },
      ];
    }
  }
}

/** The text of the message of a turn, if the turn itself was not recorded. */
const textOf = ({ messages }: AgentState, id: string | undefined): readonly LlmPart[] =>
  messages.flatMap((message) =>
    message.id === id && message.content !== "" ? [{ type: "text", text: message.content }] : [],
  );

const answerOutcome = (
  parts: readonly LlmPart[],
  origin: string,
  model: string,
  usage: LlmUsage,
): Extract<LlmOutcome, { readonly ok: true }> => ({
  ok: true,
  turn: { origin, parts },
  model,
  usage,
  finish: { unified: "stop", raw: "recorded" },
});

const usageOf = (usage: InputOf<"re-act-observed">["usage"]): LlmUsage => {
  const { cost: _, ...tokens } = { ...usage };
  return { ...noUsage, ...tokens };
};
