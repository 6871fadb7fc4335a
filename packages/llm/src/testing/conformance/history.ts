import type { LlmMessage, LlmRequest, LlmTurn } from "../../request.ts";
import { check, equal, expectSuccess } from "./check.ts";
import type { ConformanceCase, LlmHarness } from "./harness.ts";
import {
  turnWithResults,
  requestOf,
  requestWithTools,
  longTimeouts,
  text,
  turnOfCalls,
  twoCalls,
  userMessage,
} from "./requests.ts";

/** Expects that the server accepts a request. The server checks it by the provider's rules. Returns the body. */
export async function expectAccepted(
  { caller, serve, bodies }: LlmHarness,
  request: LlmRequest,
): Promise<string> {
  serve({ type: "answer", answer: text("ok") });
  expectSuccess(await caller.call(request, longTimeouts));
  return bodies.at(-1) ?? "";
}

const image = {
  type: "file",
  file: { mediaType: "image/png", name: "dot.png", data: "iVBORw0KGgo=" },
} as const;
const note = (content: string): LlmMessage => ({ role: "note", text: content });
const sum: LlmTurn = turnOfCalls({ id: "1" });
const assistantText = (content: string): LlmMessage => ({
  role: "assistant",
  turn: { origin: "another-origin", parts: [{ type: "text", text: content }] },
  results: [],
});

/** Conversations with every order of messages that an application can create. */
const conversations: Readonly<Record<string, readonly LlmMessage[]>> = {
  "two users in a row": [userMessage("Hello"), userMessage("What is 1 + 2?")],
  "a note at the start": [note("It is Monday."), userMessage("What is 1 + 2?")],
  "a note after a user": [userMessage("What is 1 + 2?"), note("Be quick.")],
  "a user after results": [userMessage("Hello"), turnWithResults(sum, "3"), userMessage("And 3 + 4?")],
  "a note after results": [userMessage("Hello"), turnWithResults(sum, "3"), note("Two steps are left.")],
  "a user and a note after results": [
    userMessage("Hello"),
    turnWithResults(sum, "3"),
    note("Hurry."),
    userMessage("And 3 + 4?"),
  ],
  "two turns with calls in a row": [
    userMessage("Hello"),
    turnWithResults(sum, "3"),
    turnWithResults(turnOfCalls({ id: "2" }), "7"),
  ],
  "a turn without calls": [userMessage("Hello"), assistantText("Hi."), userMessage("What is 1 + 2?")],
  "two turns without calls in a row": [
    userMessage("Hello"),
    assistantText("Hi."),
    assistantText("Well?"),
    userMessage("What is 1 + 2?"),
  ],
  "blank text of all kinds": [
    userMessage(" "),
    { role: "user", content: [] },
    note(""),
    assistantText("\n"),
    turnWithResults(sum, ""),
    userMessage("Hello"),
    {
      role: "user",
      content: [
        { type: "text", text: "" },
        { type: "text", text: "Well?" },
      ],
    },
  ],
  "a turn at the start": [turnWithResults(sum, "3"), userMessage("And 3 + 4?")],
  "a turn at the end": [userMessage("Hello"), assistantText("Hi.")],
};

const conversationCases = Object.entries(conversations).map(([name, messages]): ConformanceCase => ({
  name: `a conversation with ${name} is sent in an order that the provider accepts`,
  needs: ["http"],
  run: async (harness) => void (await expectAccepted(harness, requestWithTools({ messages }))),
}));

/** How earlier messages are sent in a later request. */
export const historyCases: readonly ConformanceCase[] = [
  ...conversationCases,
  {
    name: "a turn with tool calls is sent back with its results, in the order of the calls",
    needs: [],
    async run({ caller, serve, bodies }) {
      serve({ type: "answer", answer: twoCalls }, { type: "answer", answer: text("3 and 12.") });
      const first = requestWithTools();
      const { turn } = expectSuccess(await caller.call(first, longTimeouts));
      const messages = [...first.messages, turnWithResults(turn, "result one", "result two")];
      expectSuccess(await caller.call({ ...first, messages }, longTimeouts));
      const body = bodies.at(-1) ?? "result one result two";
      check(body.indexOf("result one") >= 0, "The request must contain the first result.");
      check(
        body.indexOf("result two") > body.indexOf("result one"),
        "The results must be in the order of the calls.",
      );
    },
  },
  {
    name: "any ids are sent in the provider's format, and every call has a unique id",
    needs: ["http"],
    async run(harness) {
      const ids = [
        "1",
        "2",
        "i_1_2_0",
        "tool 1/ä",
        "tool 1/ö",
        "x".repeat(500),
        "x".repeat(501),
        "",
        "x01",
        "\ud800",
      ];
      const many = turnOfCalls(...ids.map((id) => ({ id })));
      const again = turnOfCalls({ id: "1" }, { id: "1" });
      const results = ids.map((id) => `result of ${id}`);
      await expectAccepted(
        harness,
        requestWithTools({
          messages: [
            userMessage("Hello"),
            turnWithResults(many, ...results),
            turnWithResults(again, "a", "b"),
          ],
        }),
      );
    },
  },
  {
    name: "malformed arguments, and too deep ones, are sent back as an empty object",
    needs: ["http"],
    async run(harness) {
      const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
      const malformed = ["", '{"a":1', "null", "[1]", '"text"', "{'a':1}", deep];
      const turn = turnOfCalls(...malformed.map((made, index) => ({ id: `${index}`, arguments: made })));
      await expectAccepted(
        harness,
        requestWithTools({
          messages: [userMessage("Hello"), turnWithResults(turn, ...malformed.map(() => "no"))],
        }),
      );
    },
  },
  {
    name: "a failed result is marked as an error, and an empty one as empty",
    needs: ["http"],
    async run(harness) {
      const turn = turnOfCalls({ id: "1" }, { id: "2" });
      const results = [
        { isError: true, content: "the disk is full" },
        { isError: false, content: "" },
      ];
      const body = await expectAccepted(
        harness,
        requestWithTools({ messages: [userMessage("Hello"), { role: "assistant", turn, results }] }),
      );
      check(
        body.includes("the disk is full") && /error/i.test(body),
        "The request must mark the failed result as an error.",
      );
      check(body.includes("(no output)"), "The request must mark the empty result.");
    },
  },
  {
    name: "half surrogate pairs are sent as well-formed text",
    needs: ["http"],
    async run(harness) {
      const turn = turnOfCalls({ id: "1", arguments: '{"a":"\\ud83d"}' });
      const body = await expectAccepted(
        harness,
        requestWithTools({
          system: "half \ud83d",
          messages: [userMessage("half \ude00"), turnWithResults(turn, "half \ud83d"), note("\ud83d")],
        }),
      );
      check(!/\\ud[89a-f]/i.test(body), "The request must not contain a lone surrogate.");
    },
  },
  {
    name: "equal requests are sent as equal bytes",
    needs: ["http"],
    async run(harness) {
      const request = requestWithTools({
        messages: [userMessage("Hello"), turnWithResults(sum, "3")],
        settings: { temperature: 0 },
      });
      equal(
        await expectAccepted(harness, request),
        await expectAccepted(harness, structuredClone(request)),
        "The second body",
      );
    },
  },
  {
    name: "images of the user and of a tool are sent",
    needs: ["images"],
    async run(harness) {
      const results = [{ isError: false, content: "a picture", files: [image.file] }];
      const body = await expectAccepted(
        harness,
        requestWithTools({
          messages: [
            { role: "user", content: [image] },
            { role: "assistant", turn: sum, results },
          ],
        }),
      );
      equal(body.split("iVBORw0KGgo=").length - 1, 2, "The number of images");
    },
  },
  {
    name: "a file that the provider does not accept is replaced by its name",
    needs: ["http"],
    async run(harness) {
      const file = { mediaType: "application/x-unknown", name: "data.bin", data: "AAAA" };
      const body = await expectAccepted(
        harness,
        requestOf({
          messages: [{ role: "user", content: [{ type: "file", file }] }, userMessage("What is it?")],
        }),
      );
      check(body.includes("data.bin"), "The request must contain the name of the file.");
    },
  },
];
