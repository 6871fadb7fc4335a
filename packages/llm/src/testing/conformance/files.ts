import type { LlmFile } from "../../request.ts";
import { requestOf, text, userMessage } from "./requests.ts";
import { check, equal, rules, rulesOf, type ConformanceCase } from "./scene.ts";

const data = "iVBORw0KGgo=";
const picture = { mediaType: "image/png", data };
const drawn = { ...text("Here it is."), files: [picture] };

const timesIn = (body: string): number => body.split(data).length - 1;

/** Files that models make, and how later requests contain them. */
export const fileCases: readonly ConformanceCase[] = [
  ...rules(["files"], {
    "a file that the model made is a part of the turn": async (at) => {
      const { turn } = await at.answer(drawn);
      const files = turn.parts.flatMap((part) => (part.type === "file" ? [part.file] : []));
      equal(files, [picture], "The files");
      equal(turn.parts[0]?.type, "text", "The first part");
    },
    "an answer of a file alone is not empty": async (at) => {
      const { turn } = await at.answer({ files: [picture] });
      const types = turn.parts.map((part) => part.type);
      equal(types, ["file"], "The parts");
    },
    "a file that the model made is sent back once, with its turn": async (at) => {
      const first = requestOf();
      const { turn } = await at.answer(drawn, first);
      const answered = { role: "assistant", turn, results: [] } as const;
      const messages = [...first.messages, answered, userMessage("Make it smaller.")];
      await at.answer(undefined, { ...first, messages });
      equal(timesIn(at.body), 1, "The number of files");
    },
  }),
  ...rulesOf<LlmFile>(
    ["images"],
    [picture, { mediaType: "image/png", url: `data:image/png;base64,${data}` }],
    (file) =>
      `a file that another model made is sent as a file of the user, if it is given as ${"url" in file ? "a data URL" : "data"}`,
    async (at, file) => {
      const parts = [{ type: "text", text: "Here it is." } as const, { type: "file", file } as const];
      const answered = { role: "assistant", turn: { origin: "another-origin", parts }, results: [] } as const;
      const messages = [userMessage("Draw a dot."), answered, userMessage("Make it smaller.")];
      await at.answer(undefined, requestOf({ messages }));
      equal(timesIn(at.body), 1, "The number of files");
      check(at.body.includes("Make it smaller."), "The request must contain the message after the turn.");
    },
  ),
];
