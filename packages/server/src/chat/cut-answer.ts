import type { AgentState } from "@moora/agent";
import type { Turn } from "./loop-turns.ts";

/** An answer that was cut off in a step from which nothing else came. */
export interface CutAnswer {
  readonly id: string;
  readonly step: number;
  readonly text: string;
}

/** The loop and the step of the message of a model call, by its id; undefined for any other message. */
export function placeOf(messageId: string): { readonly loop: number; readonly step: number } | undefined {
  const [, loop, step] = /^msg_(\d+)_(\d+)(?:_\d+)?$/.exec(messageId) ?? [];
  return loop === undefined ? undefined : { loop: Number(loop), step: Number(step) };
}

/** The answers of loops that were cut off and that no turn has, by their loop, with their positions among the messages. */
export function cutAnswersOf({
  messages,
  transcript,
}: Pick<AgentState, "messages" | "transcript">): ReadonlyMap<
  number,
  CutAnswer & { readonly position: number }
> {
  const turns = Map.groupBy(
    transcript.filter((entry) => entry.type === "turn"),
    ({ loop }) => loop,
  );
  const positions = new Map(messages.map(({ id }, position) => [id, position]));
  const cut = new Map<number, CutAnswer & { readonly position: number }>();
  for (const [loop, answers] of Map.groupBy(messages, ({ id }) => placeOf(id)?.loop)) {
    const answer = loop === undefined ? undefined : cutAnswerOf(answers, loop, turns.get(loop) ?? []);
    const position = answer && positions.get(answer.id);
    if (loop !== undefined && answer !== undefined && position !== undefined)
      cut.set(loop, { ...answer, position });
  }
  return cut;
}

/** The newest answer of a loop, if it was cut off and its step has no turn. `turns` are those of the loop. */
export function cutAnswerOf(
  messages: AgentState["messages"],
  loop: number,
  turns: readonly Turn[],
): CutAnswer | undefined {
  const newest = messages.findLast(({ id, role }) => role === "assistant" && placeOf(id)?.loop === loop);
  const place = newest && placeOf(newest.id);
  if (newest?.status !== "cut" || newest.content === "" || place === undefined) return undefined;
  const { step } = place;
  if (turns.some((turn) => turn.step >= step)) return undefined;
  return { id: newest.id, step, text: newest.content };
}
