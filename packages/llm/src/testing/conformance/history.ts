import type { LlmMessage, LlmToolResult, LlmTurn } from "../../request.ts";
import {
  requestOf,
  requestWithTools,
  text,
  turnOfCalls,
  turnWithResults,
  twoCalls,
  userMessage,
} from "./requests.ts";
import { check, equal, rules, rulesOf, type ConformanceCase, type Scene } from "./scene.ts";

const image = {
  type: "file",
  file: { mediaType: "image/png", name: "dot.png", data: "iVBORw0KGgo=" },
} as const;
const note = (content: string): LlmMessage => ({ role: "note", text: content });
const sum: LlmTurn = turnOfCalls({ id: "1" });
const hello = userMessage("Hello");
const question = userMessage("What is 1 + 2?");
const summed = turnWithResults(sum, "3");
const assistantText = (content: string): LlmMessage => ({
  role: "assistant",
  turn: { origin: "another-origin", parts: [{ type: "text", text: content }] },
  results: [],
});
const userTexts = (...texts: readonly string[]): LlmMessage => ({
  role: "user",
  content: texts.map((content) => ({ type: "text", text: content })),
});

const blankTexts = [
  userTexts(" "),
  userTexts(),
  note(""),
  assistantText("\n"),
  turnWithResults(sum, ""),
  hello,
  userTexts("", "Well?"),
];

/** Conversations with every order of messages that an application can create. */
const conversations: readonly (readonly [name: string, messages: readonly LlmMessage[]])[] = [
  ["two users in a row", [hello, question]],
  ["a note at the start", [note("It is Monday."), question]],
  ["a note after a user", [question, note("Be quick.")]],
  ["a user after results", [hello, summed, userMessage("And 3 + 4?")]],
  ["a note after results", [hello, summed, note("Two steps are left.")]],
  ["a user and a note after results", [hello, summed, note("Hurry."), userMessage("And 3 + 4?")]],
  ["two turns with calls in a row", [hello, summed, turnWithResults(turnOfCalls({ id: "2" }), "7")]],
  ["a turn without calls", [hello, assistantText("Hi."), question]],
  ["two turns without calls in a row", [hello, assistantText("Hi."), assistantText("Well?"), question]],
  ["blank text of all kinds", blankTexts],
  ["a turn at the start", [summed, userMessage("And 3 + 4?")]],
  ["a turn at the end", [hello, assistantText("Hi.")]],
];

/** Sends a conversation to a server, which checks it by the rules of the provider. Resolves to the body. */
async function bodyOf(at: Scene, ...messages: readonly LlmMessage[]): Promise<string> {
  await at.answer(text("ok"), requestWithTools({ messages }));
  return at.body;
}

const turnWith = (turn: LlmTurn, ...results: readonly LlmToolResult[]): LlmMessage => ({
  role: "assistant",
  turn,
  results,
});

/** How earlier messages are sent in a later request. */
export const historyCases: readonly ConformanceCase[] = [
  ...rulesOf(
    ["http"],
    conversations,
    ([name]) => `a conversation with ${name} is sent in an order that the provider accepts`,
    async (at, [, messages]) => void (await bodyOf(at, ...messages)),
  ),
  ...rules([], {
    "a turn with tool calls is sent back with its results, in the order of the calls": async (at) => {
      const first = requestWithTools();
      const { turn } = await at.answer(twoCalls, first);
      const messages = [...first.messages, turnWithResults(turn, "result one", "result two")];
      await at.answer(text("3 and 12."), { ...first, messages });
      // A subject without a server has no bodies.
      const body = at.body === "" ? "result one result two" : at.body;
      check(body.includes("result one"), "The request must contain the first result.");
      const isInOrder = body.indexOf("result two") > body.indexOf("result one");
      check(isInOrder, "The results must be in the order of the calls.");
    },
  }),
  ...rules(["http"], {
    "any ids are sent in the provider's format, and every call has a unique id": async (at) => {
      const strange = ["tool 1/ä", "tool 1/ö", "x".repeat(500), "x".repeat(501), "", "x01", "\ud800"];
      const ids = ["1", "2", "i_1_2_0", ...strange];
      const many = turnOfCalls(...ids.map((id) => ({ id })));
      const again = turnOfCalls({ id: "1" }, { id: "1" });
      const results = ids.map((id) => `result of ${id}`);
      await bodyOf(at, hello, turnWithResults(many, ...results), turnWithResults(again, "a", "b"));
    },
    "malformed arguments, and too deep ones, are sent back as an empty object": async (at) => {
      const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
      const malformed = ["", '{"a":1', "null", "[1]", '"text"', "{'a':1}", deep];
      const turn = turnOfCalls(...malformed.map((made, index) => ({ id: `${index}`, arguments: made })));
      await bodyOf(at, hello, turnWithResults(turn, ...malformed.map(() => "no")));
    },
    "a failed result is marked as an error, and an empty one as empty": async (at) => {
      const failed = { isError: true, content: "the disk is full" };
      const empty = { isError: false, content: "" };
      const body = await bodyOf(at, hello, turnWith(turnOfCalls({ id: "1" }, { id: "2" }), failed, empty));
      const isMarked = body.includes("the disk is full") && /error/i.test(body);
      check(isMarked, "The request must mark the failed result as an error.");
      check(body.includes("(no output)"), "The request must mark the empty result.");
    },
    "half surrogate pairs are sent as well-formed text": async (at) => {
      const turn = turnOfCalls({ id: "1", arguments: '{"a":"\\ud83d"}' });
      const messages = [userMessage("half \ude00"), turnWithResults(turn, "half \ud83d"), note("\ud83d")];
      await at.answer(text("ok"), requestWithTools({ system: "half \ud83d", messages }));
      check(!/\\ud[89a-f]/i.test(at.body), "The request must not contain a lone surrogate.");
    },
    "equal requests are sent as equal bytes": async (at) => {
      const request = requestWithTools({ messages: [hello, summed], settings: { temperature: 0 } });
      await at.answer(text("ok"), request);
      await at.answer(text("ok"), structuredClone(request));
      equal(at.harness.bodies[1], at.harness.bodies[0], "The second body");
    },
    "a file that the provider does not accept is replaced by its name": async (at) => {
      const file = { mediaType: "application/x-unknown", name: "data.bin", data: "AAAA" };
      const messages = [
        { role: "user", content: [{ type: "file", file }] } as const,
        userMessage("What is it?"),
      ];
      await at.answer(text("ok"), requestOf({ messages }));
      check(at.body.includes("data.bin"), "The request must contain the name of the file.");
    },
  }),
  ...rules(["images"], {
    "images of the user and of a tool are sent": async (at) => {
      const result = { isError: false, content: "a picture", files: [image.file] };
      const body = await bodyOf(at, { role: "user", content: [image] }, turnWith(sum, result));
      equal(body.split("iVBORw0KGgo=").length - 1, 2, "The number of images");
    },
  }),
];
