import type { LlmOutcome, LlmPart } from "@moora/llm";
import { answers, callsTools, mockOrigin } from "@moora/llm/testing";
import { call } from "../counting-agent.ts";
import { answersOnce, inLoops, type Transcript } from "./transcript.ts";

const usage = {
  inputTokens: 7,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 3,
  reasoningTokens: 2,
};

/** A turn with parts as a provider makes them. */
const turnOf = (parts: readonly LlmPart[], { origin = mockOrigin, raw = {} } = {}): LlmOutcome => {
  const unified = parts.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop";
  return {
    ok: true,
    turn: { origin, parts, raw },
    model: "mock-1",
    usage,
    finish: { unified, raw: unified },
  };
};

const thought = (text: string, signature: string): LlmPart => ({
  type: "reasoning",
  text,
  raw: { type: "thinking", thinking: text, signature },
});

const made = (id: string, of: number): LlmPart => ({
  type: "tool-call",
  id,
  name: "look",
  arguments: JSON.stringify({ of }),
  raw: { type: "tool_use", id, input: { of } },
});

const said = (text: string): LlmPart => ({ type: "text", text, raw: { type: "text", text } });

const drawn = (id: string): LlmPart => ({
  type: "file",
  file: { mediaType: "image/png", data: "iVBORw0KGgo=" },
  raw: { type: "image_generation_call", id },
});

const sealed = (data: string): LlmPart => ({ type: "opaque", raw: { type: "redacted_thinking", data } });

const numbered = (count: number, what: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${what} ${index + 1}`);

/** Talk: text, reasoning, files, parts that only their origin can read. */
export const chats: readonly Transcript[] = [
  inLoops(
    "ten answers",
    numbered(10, "Answer").map((text) => [answersOnce(text)]),
    { says: numbered(10, "Question") },
  ),
  inLoops("an answer in three parts", [[turnOf([said("One. "), said("Two. "), said("Three.")])]]),
  inLoops(
    "files that a model makes",
    [
      [turnOf([thought("A dot.", "sig-1"), said("Here it is."), drawn("ig_1")])],
      [turnOf([drawn("ig_2")])],
      [answersOnce("You are welcome.")],
    ],
    { says: ["Draw a dot.", "Another one.", "Thank you."] },
  ),
  inLoops("an answer after reasoning", [[answers("Thus.", { reasoning: "First this, then that." })]]),
  inLoops("reasoning carried over two turns of calls", [
    [
      turnOf([thought("I must look.", "sig-1"), made("toolu_1", 1)]),
      turnOf([thought("And again.", "sig-2"), said("Once more."), made("toolu_2", 2)]),
      turnOf([thought("Enough.", "sig-3"), said("It is two.")]),
    ],
  ]),
  inLoops("sealed parts carried over two turns of calls", [
    [
      turnOf([sealed("AAEC"), thought("", "sig-1"), made("toolu_1", 1)]),
      turnOf([sealed("AwQF"), made("toolu_2", 2), sealed("BgcI")]),
    ],
  ]),
  inLoops(
    "a second origin, and back to the first",
    [
      [turnOf([thought("Here.", "sig-1"), made("toolu_1", 1)]), turnOf([said("Here.")])],
      [turnOf([thought("There.", "enc-1"), said("There.")], { origin: "elsewhere", raw: { id: "resp_1" } })],
      [turnOf([thought("Back.", "sig-2"), said("Back.")])],
    ],
    { says: ["One?", "Two?", "Three?"] },
  ),
  inLoops("a turn with a form of its own", [
    [turnOf([said("As it came.")], { raw: { id: "msg_1", n: [1, 2] } })],
  ]),
  inLoops("a message with a file", [[answersOnce("A cat.")]], {
    says: [
      {
        content: "What is this?",
        attachments: [{ mediaType: "image/png", name: "cat.png", url: "https://pictures.example/cat.png" }],
      },
    ],
  }),
  inLoops("a file without a word", [[answersOnce("I see.")]], {
    says: [
      { content: "", attachments: [{ mediaType: "text/plain", url: "data:text/plain;base64,aGVsbG8=" }] },
    ],
  }),
  inLoops("a word before a call", [[callsTools([call("look")], { text: "Let me look." })]]),
  inLoops("a word and a thought before three calls", [
    [callsTools([call("look"), call("pay"), call("look", 2)], { text: "At once.", reasoning: "All three." })],
  ]),
  inLoops("a long answer, word by word", [[answersOnce(numbered(150, "word").join(" "))]]),
  inLoops("an answer that is sure", [[answers("Surely.", { confidence: 0.97 })]]),
  inLoops("blank parts between the words", [[turnOf([said(" \n "), said("There."), said("\t")])]]),
  inLoops("models by the type of the task", [[[call("look")]]], {
    config: {
      systemPrompt: "You are brief.",
      taskType: "calculation",
      models: { default: "small", calculation: "large", reflect: "tiny" },
      settings: { temperature: 0.2, maxOutputTokens: 1_000, stop: ["END"] },
      reflection: { everyNSteps: 1 },
    },
  }),
  inLoops("no tools at all", [[[call("look")], answersOnce("Then without.")]], {
    extras: { tools: [] },
    mayBeUnknown: true,
  }),
];
