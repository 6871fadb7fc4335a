import { expect, it } from "vitest";
import { Draft, draftToPieces, type Piece } from "../src/index.ts";

const messageId = "msg_1_1";
const call = { messageId, toolCallId: "call_1" };
const token = (text: string, offset: number): Piece => ({ type: "LlmToken", messageId, text, offset });
const reasoning = (text: string, offset: number, part?: number): Piece => ({
  type: "LlmReasoning",
  messageId,
  ...(part === undefined ? {} : { part }),
  text,
  offset,
});

const pieces: readonly Piece[] = [
  token("One", 0),
  token(" two", 3),
  token(" four", 13),
  token("two!", 4),
  reasoning("everything.", 14),
  { type: "LlmToolCall", ...call, name: "look" },
  { type: "LlmToolCall", ...call, name: "look" },
  { type: "LlmToolCallDelta", ...call, text: "{", offset: 0 },
  { type: "LlmToolCallDelta", ...call, text: "}", offset: 9 },
];

function draftOf(given: readonly Piece[]): Draft {
  const draft = new Draft();
  for (const piece of given) draft.add(piece);
  return draft;
}

it("A draft has no piece that follows a gap, and none twice.", () => {
  const draft = draftOf(pieces);
  expect(draft.text).toBe("One two!");
  expect(draft.parts.map(({ kind, pieces: written }) => [kind, written.join("")])).toEqual([
    ["text", "One two!"],
    ["call", "{"],
  ]);
});

it("A draft returns what is new of a piece.", () => {
  const draft = draftOf([token("One", 0)]);
  expect(draft.add(token("One two", 0))).toEqual(token(" two", 3));
  expect(draft.add(token("One", 0))).toBeUndefined();
  expect(draft.add(token("four", 8))).toBeUndefined();
  expect(draft.lacksTextBefore(token("four", 8))).toBe(true);
  expect(draft.lacksTextBefore(token(" three", 7))).toBe(false);
});

it("A draft begins anew with the first piece of another attempt.", () => {
  const draft = draftOf(pieces);
  draft.add({ ...token("Again", 0), messageId: "msg_1_1_2" });
  expect([draft.messageId, draft.text, draft.length]).toEqual(["msg_1_1_2", "Again", 5]);
});

it("The pieces of a draft lead to it.", () => {
  const draft = draftOf([
    reasoning("Hm.", 0),
    reasoning("So.", 3, 4),
    ...pieces,
    { type: "LlmToken", messageId, part: 2, text: " Now", offset: 8 },
    { type: "LlmToolCall", messageId, toolCallId: "call_2", name: "work" },
  ]);
  const again = draftOf(draftToPieces(draft));
  expect(again.length).toBe(draft.length);
  expect(draftToPieces(again)).toEqual(draftToPieces(draft));
});
