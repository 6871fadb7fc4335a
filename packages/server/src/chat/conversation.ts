import type { AgentState } from "@moora/agent";
import type { AgentMessage } from "@moora/agent-webui-protocol";
import { cutAnswersOf, type CutAnswer } from "./cut-answer.ts";
import { isResumable } from "./loop-end.ts";
import { turnIdOf, type Turn } from "./loop-turns.ts";

/** A message of a user, a turn of the model, or an answer that was cut off and that no turn has. `turnId` is what identifies the turn. */
type Entry =
  | { readonly type: "user"; readonly loop: undefined; readonly message: AgentMessage }
  | { readonly type: "turn"; readonly loop: number; readonly turn: Turn; readonly turnId: string }
  | { readonly type: "cut"; readonly loop: number; readonly cut: CutAnswer };

/** Whether a loop has ended, so that it reads no further message. */
export const isOver = (state: AgentState, loop: number): boolean =>
  loop < state.reActContext.loop || !isResumable(state, []);

/** The conversation as the log has it, in order, with the messages that the model has not read yet. An answer of a running loop that was cut off was taken back. */
export function* conversationOf(state: AgentState): Iterable<Entry> {
  const positions = new Map(state.messages.map(({ id }, position) => [id, position]));
  let cuts = [...cutAnswersOf(state)]
    .filter(([loop]) => isOver(state, loop))
    .map(([loop, cut]) => ({ type: "cut", loop, cut }) as const)
    .toSorted((one, other) => one.cut.position - other.cut.position);
  const counts = new Map<number, number>();
  for (const entry of [...state.transcript, ...state.reActContext.queued]) {
    const isTurn = entry.type === "turn";
    const position = entry.type === "message" ? (positions.get(entry.messageId) ?? -1) : -1;
    const message = state.messages[position];
    const isBefore = ({ loop, cut }: (typeof cuts)[number]): boolean =>
      isTurn ? loop < entry.loop : cut.position < position;
    yield* cuts.filter(isBefore);
    cuts = cuts.filter((cut) => !isBefore(cut));
    if (isTurn) {
      const count = counts.get(entry.loop) ?? 0;
      counts.set(entry.loop, count + 1);
      yield { type: "turn", loop: entry.loop, turn: entry, turnId: turnIdOf(entry.loop, count) };
    } else if (message?.role === "user") yield { type: "user", loop: undefined, message };
  }
  yield* cuts;
}
