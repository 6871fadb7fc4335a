import type { LlmFile, LlmTurn } from "../../request.ts";
import { check, equal, expectSuccess } from "./check.ts";
import type { ConformanceCase } from "./harness.ts";
import { expectAccepted } from "./history.ts";
import { longTimeouts, requestOf, text, userMessage } from "./requests.ts";

const data = "iVBORw0KGgo=";
const picture = { mediaType: "image/png", data };

const timesIn = (body: string, what: string): number => body.split(what).length - 1;

const turnOf = (file: LlmFile): LlmTurn => ({
  origin: "another-origin",
  parts: [
    { type: "text", text: "Here it is." },
    { type: "file", file },
  ],
});

/** Files that models make, and how later requests contain them. */
export const fileCases: readonly ConformanceCase[] = [
  {
    name: "a file that the model made is a part of the turn",
    needs: ["files"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: { ...text("Here it is."), files: [picture] } });
      const { turn } = expectSuccess(await caller.call(requestOf(), longTimeouts));
      const files = turn.parts.flatMap((part) => (part.type === "file" ? [part.file] : []));
      equal(files, [picture], "The files");
      equal(turn.parts[0]?.type, "text", "The first part");
    },
  },
  {
    name: "an answer of a file alone is not empty",
    needs: ["files"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: { files: [picture] } });
      const { turn } = expectSuccess(await caller.call(requestOf(), longTimeouts));
      equal(
        turn.parts.map((part) => part.type),
        ["file"],
        "The parts",
      );
    },
  },
  {
    name: "a file that the model made is sent back once, with its turn",
    needs: ["files"],
    async run(harness) {
      const { caller, serve } = harness;
      serve({ type: "answer", answer: { ...text("Here it is."), files: [picture] } });
      const first = requestOf();
      const { turn } = expectSuccess(await caller.call(first, longTimeouts));
      const messages = [
        ...first.messages,
        { role: "assistant", turn, results: [] } as const,
        userMessage("Make it smaller."),
      ];
      equal(timesIn(await expectAccepted(harness, { ...first, messages }), data), 1, "The number of files");
    },
  },
  ...[picture, { mediaType: "image/png", url: `data:image/png;base64,${data}` }].map(
    (file): ConformanceCase => ({
      name: `a file that another model made is sent as a file of the user, if it is given as ${"url" in file ? "a data URL" : "data"}`,
      needs: ["images"],
      async run(harness) {
        const messages = [
          userMessage("Draw a dot."),
          { role: "assistant", turn: turnOf(file), results: [] } as const,
          userMessage("Make it smaller."),
        ];
        const body = await expectAccepted(harness, requestOf({ messages }));
        equal(timesIn(body, data), 1, "The number of files");
        check(body.includes("Make it smaller."), "The request must contain the message after the turn.");
      },
    }),
  ),
];
