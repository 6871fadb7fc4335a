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

/** The text or reasoning that is being streamed. */
export interface OpenPart {
  readonly kind: "text" | "reasoning";
  readonly id: string;
}
