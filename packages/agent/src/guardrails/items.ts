import type { GuardrailContext } from "@moora/agent-core-effects";
import {
  failureText,
  type AgentState,
  type Replacement,
  type ToolCallRecord,
} from "@moora/agent-core-state-machine";
import {
  callIdsOf,
  filesIn,
  messageOf,
  newestTurnAt,
  recordOf,
  textIn,
  toolOf,
  transcriptOf,
} from "@moora/agent-core-state-machine/internal";

/** Where a text comes from, by the name of its check. */
export type Place = "input" | "result" | "answer";

/** What became of a text before. */
interface Left {
  /** It is of an earlier loop, which must not end this one. */
  readonly isEarlier: boolean;
  /** Its loop was canceled: what a person was asked about is refused. */
  readonly isRefused: boolean;
}

/** A text to check, and how another one takes its place. */
export interface Item extends Left {
  readonly text: string;
  readonly places: readonly Place[];
  readonly about: Pick<GuardrailContext, "files" | "call">;
  readonly replacedBy: (content: string) => Replacement;
}

/** The messages since the newest turn, also those in the queue; the results of that turn, and its text if its loop was canceled then. */
export function unreadAt(state: AgentState): readonly Item[] {
  const { loopStart, queued, startedAt } = state.reActContext;
  const transcript = transcriptOf(state);
  const turnAt = newestTurnAt(state);
  const canceledAt = canceledAfter(state, turnAt);
  const leftAt = (index: number): Left => ({ isEarlier: index < loopStart, isRefused: index < canceledAt });
  const turn = transcript.at(turnAt);
  const items: (Item | undefined)[] = [];
  if (turnAt >= 0 && turn?.type === "turn" && turn.withheld !== true) {
    if (canceledAt >= 0) items.push(answerIn(state, turnAt, { isEarlier: true, isRefused: true }));
    for (const id of callIdsOf(turn)) items.push(resultItem(state, id, leftAt(turnAt)));
  }
  for (let index = turnAt + 1; index < transcript.length; index += 1) {
    const entry = transcript.at(index);
    if (entry?.type === "message" && entry.withheld !== true)
      items.push(messageItem(state, entry.messageId, leftAt(index)));
  }
  for (const entry of queued) {
    if (entry.type !== "message") continue;
    // A loop that ends before its plan leaves its messages in the queue.
    const isEarlier = (messageOf(state, entry.messageId)?.receivedAt ?? startedAt) < startedAt;
    items.push(messageItem(state, entry.messageId, { isEarlier, isRefused: isEarlier && canceledAt >= 0 }));
  }
  return items.filter((item) => item !== undefined);
}

/** The index of the newest note of a cancel after an entry; -1 without one. */
function canceledAfter(state: AgentState, from: number): number {
  const transcript = transcriptOf(state);
  for (let index = transcript.length - 1; index > from; index -= 1) {
    const entry = transcript.at(index);
    if (entry?.type === "note" && entry.says?.[0] === "cancelled") return index;
  }
  return -1;
}

function messageItem(state: AgentState, messageId: string, left: Left): Item | undefined {
  const message = messageOf(state, messageId);
  if (message === undefined) return undefined;
  const { content: text, attachments: files = [] } = message;
  const replacedBy = (content: string): Replacement => ({ type: "message", messageId, content });
  return { text, places: ["input"], about: { files }, ...left, replacedBy };
}

function resultItem(state: AgentState, toolCallId: string, left: Left): Item | undefined {
  const record = recordOf(state, toolCallId);
  if (record === undefined || record.result === null) return undefined;
  const { name, parameters, result } = record;
  const text = result.isSuccess ? result.content : failureText(result);
  const files = result.isSuccess ? (result.files ?? []) : [];
  const replacedBy = (content: string): Replacement => ({ type: "result", toolCallId, content });
  const about = { files, call: { id: toolCallId, name, parameters } };
  return { text, places: placesOf(state, record), about, ...left, replacedBy };
}

/** The answer of a person to a question is what a person writes, too. */
const placesOf = (state: AgentState, { name }: ToolCallRecord): readonly Place[] =>
  toolOf(state, name)?.asksHuman === true ? ["input", "result"] : ["result"];

/** The text of a turn; undefined if it has none. */
export function answerIn(state: AgentState, turnAt: number, left: Left): Item | undefined {
  const turn = turnAt < 0 ? undefined : transcriptOf(state).at(turnAt);
  if (turn?.type !== "turn") return undefined;
  const { parts } = turn;
  const text = textIn(parts);
  const files = filesIn(parts);
  if (text === "" && files.length === 0) return undefined;
  return {
    text,
    places: ["answer"],
    about: { files },
    ...left,
    replacedBy: (content) => ({ type: "answer", content }),
  };
}
