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

/** The server checks what it gets by the provider's rules, so an answer means that the request obeyed them. */
async function expectAccepted({ caller, serve, bodies }: LlmHarness, request: LlmRequest): Promise<string> {
  serve({ type: "answer", answer: text("ok") });
  expectSuccess(await caller.call(request, longTimeouts));
  return bodies.at(-1) ?? "";
}

const image = {
  type: "file",
  file: { mediaType: "image/png", name: "dot.png", data: "iVBORw0KGgo=" },
} as const;
const note = (words: string): LlmMessage => ({ role: "note", text: words });
const sum: LlmTurn = turnOfCalls({ id: "1" });
const said = (words: string): LlmMessage => ({
  role: "assistant",
  turn: { origin: "elsewhere", parts: [{ type: "text", text: words }] },
  results: [],
});

/** Conversations in every order that a host can come to. */
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
  "a turn after a turn": [
    userMessage("Hello"),
    turnWithResults(sum, "3"),
    turnWithResults(turnOfCalls({ id: "2" }), "7"),
  ],
  "a turn without calls": [userMessage("Hello"), said("Hi."), userMessage("What is 1 + 2?")],
  "two turns without calls": [
    userMessage("Hello"),
    said("Hi."),
    said("Well?"),
    userMessage("What is 1 + 2?"),
  ],
  "blank text of all kinds": [
    userMessage(" "),
    { role: "user", content: [] },
    note(""),
    said("\n"),
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
  "a turn at the end": [userMessage("Hello"), said("Hi.")],
};

const conversationCases = Object.entries(conversations).map(([name, messages]): ConformanceCase => ({
  name: `a conversation with ${name} is sent in an order that the provider takes`,
  needs: ["http"],
  run: async (harness) => void (await expectAccepted(harness, requestWithTools({ messages }))),
}));

/** What goes back in a later request. */
export const historyCases: readonly ConformanceCase[] = [
  ...conversationCases,
  {
    name: "a turn of tool calls goes back with its results, in the order of the calls",
    needs: [],
    async run({ caller, serve, bodies }) {
      serve({ type: "answer", answer: twoCalls }, { type: "answer", answer: text("3 and 12.") });
      const first = requestWithTools();
      const { turn } = expectSuccess(await caller.call(first, longTimeouts));
      const messages = [...first.messages, turnWithResults(turn, "result one", "result two")];
      expectSuccess(await caller.call({ ...first, messages }, longTimeouts));
      const body = bodies.at(-1) ?? "result one result two";
      check(body.indexOf("result one") >= 0, "the first result is missing");
      check(body.indexOf("result two") > body.indexOf("result one"), "the results are out of order");
    },
  },
  {
    name: "ids of any kind go out in the dialect's pattern, each call with an id of its own",
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
    name: "malformed arguments, and those that are too deep, go back as an empty object",
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
    name: "a failed result is shown as a failure, an empty one says that it is empty",
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
      check(body.includes("the disk is full") && /error/i.test(body), "the failure does not show");
      check(body.includes("(no output)"), "the empty result is blank");
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
      check(!/\\ud[89a-f]/i.test(body), "a lone surrogate is on its way");
    },
  },
  {
    name: "the same request twice is the same bytes",
    needs: ["http"],
    async run(harness) {
      const request = requestWithTools({
        messages: [userMessage("Hello"), turnWithResults(sum, "3")],
        settings: { temperature: 0 },
      });
      equal(
        await expectAccepted(harness, request),
        await expectAccepted(harness, structuredClone(request)),
        "the second body",
      );
    },
  },
  {
    name: "images go along, from the user and from a tool",
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
      equal(body.split("iVBORw0KGgo=").length - 1, 2, "the number of images");
    },
  },
  {
    name: "a file that the provider does not take is named in its place",
    needs: ["http"],
    async run(harness) {
      const file = { mediaType: "application/x-unknown", name: "data.bin", data: "AAAA" };
      const body = await expectAccepted(
        harness,
        requestOf({
          messages: [{ role: "user", content: [{ type: "file", file }] }, userMessage("What is it?")],
        }),
      );
      check(body.includes("data.bin"), "the file is not even named");
    },
  },
];
