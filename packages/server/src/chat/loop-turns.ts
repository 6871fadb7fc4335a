import type { AgentState } from "@moora/agent";

/** An answer of the model in the transcript of a session. */
export type Turn = Extract<AgentState["transcript"][number], { type: "turn" }>;

/** The turns of one loop, in order. */
export const turnsOf = ({ transcript }: Pick<AgentState, "transcript">, loop: number): readonly Turn[] =>
  transcript.filter((entry) => entry.type === "turn").filter((turn) => turn.loop === loop);

/** What identifies a turn. */
export const keyOf = ({ loop, step, messageId }: Turn): string => `${loop}_${step}_${messageId}`;

/** The ids of the calls of a turn. */
export const callsOf = ({ parts }: Turn): readonly string[] =>
  parts.flatMap((part) => (part.type === "call" ? [part.toolCallId] : []));

/** Calls in the order of their results, before those without one. */
export function byResultTime({ toolCalls }: AgentState, ids: readonly string[]): readonly string[] {
  const timeOf = (id: string): number => toolCalls[id]?.result?.receivedAt ?? Infinity;
  return ids.toSorted((one, other) => {
    const [time, otherTime] = [timeOf(one), timeOf(other)];
    return Number(time > otherTime) - Number(time < otherTime);
  });
}

/** What identifies a turn in the ids of its reasoning. `index` is its position among the turns of its loop. */
export const turnIdOf = (loop: number, index: number): string => `${loop}_${index + 1}`;

/** A text or reasoning in a message. */
export interface MessagePart {
  readonly kind: "text" | "reasoning";
  readonly id: string;
}

/** The id of reasoning in a message: the same in each stream, and for each attempt of its turn. `ordinal` counts from 1; "" for the beginning of all ids of a turn. */
export const reasoningId = (turnId: string, ordinal: number | ""): string => `reasoning_${turnId}_${ordinal}`;

interface TextPart extends MessagePart {
  readonly text: string;
}

/** The texts and the reasoning of a turn that are not empty, in order. */
export function partsOfTurn(turn: Turn, turnId: string): readonly TextPart[] {
  let reasonings = 0;
  return turn.parts.flatMap((part, index): readonly TextPart[] => {
    if ((part.type !== "text" && part.type !== "reasoning") || part.text === "") return [];
    const { type: kind, text } = part;
    if (kind === "text") return [{ kind, id: turn.messageId ?? `text_${keyOf(turn)}_${index}`, text }];
    reasonings += 1;
    return [{ kind, id: reasoningId(turnId, reasonings), text }];
  });
}
