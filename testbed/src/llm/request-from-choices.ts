import type {
  Json,
  LlmContent,
  LlmFile,
  LlmMessage,
  LlmPart,
  LlmRequest,
  LlmSettings,
  LlmTool,
  LlmToolChoice,
  LlmToolResult,
} from "@moora/llm";
import { defined } from "@moora/llm/adapter";

/** The target of the requests in an adapter's property tests. */
export interface RequestChoiceOptions {
  /** The origin that gets raw parts back. About half of the assistant turns come from it. */
  readonly origin: string;
  /** Reasoning parts as this origin makes them. */
  readonly reasoning: readonly LlmPart[];
}

/**
 * A request that the port allows, built from a list of choices: for property tests of an adapter, with any source of
 * random numbers. Each number selects one alternative; where the list ends, the first and simplest alternative is selected.
 * So equal lists give equal requests, and a shorter list or smaller numbers give a simpler request. Texts, names and ids
 * include blank, long and ill-formed ones.
 */
export function requestFromChoices(choices: readonly number[], options: RequestChoiceOptions): LlmRequest {
  const draw = new Draw(choices);
  const tools = uniqueByName(draw.list(4, () => toolFrom(draw)));
  return {
    purpose: draw.one(["plan", "reflect"] as const),
    model: "some-model",
    system: textFrom(draw),
    messages: [
      { role: "user", content: [{ type: "text", text: "Hello" }] },
      ...draw.list(8, () => messageFrom(draw, options)),
    ],
    tools,
    toolChoice: draw.one<LlmToolChoice>(["auto", "none", "required", ...tools.map(({ name }) => ({ name }))]),
    parallelToolCalls: draw.one([true, false]),
    settings: settingsFrom(draw),
  };
}

/** Reads alternatives from a list of choices. */
class Draw {
  readonly #choices: readonly number[];
  #next = 0;

  constructor(choices: readonly number[]) {
    this.#choices = choices;
  }

  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number {
    const choice = this.#choices[this.#next] ?? 0;
    this.#next += 1;
    return Math.abs(Math.trunc(choice)) % limit;
  }

  one<Value>(values: readonly [Value, ...Value[]]): Value {
    return values[this.below(values.length)] ?? values[0];
  }

  list<Value>(maxLength: number, draw: () => Value): readonly Value[] {
    return Array.from({ length: this.below(maxLength + 1) }, draw);
  }
}

const textFrom = (draw: Draw): string =>
  draw.below(2) === 0
    ? draw.one(["", "Hello", " ", "\n", "\ud83d", "Error: no", "__proto__", "<note>", "a".repeat(500)])
    : draw.list(10, () => characterFrom(draw)).join("");

/** One UTF-16 unit of any kind: half a surrogate pair is one too. */
const characterFrom = (draw: Draw): string =>
  String.fromCharCode(draw.one([0, 0x20, 0x61, 0xd800, 0xdc00, 0xff00]) + draw.below(0x60));

const idFrom = (draw: Draw): string =>
  draw.below(3) === 2
    ? textFrom(draw)
    : draw.one(["1", "2", "x01", "", "tool 1/ä", "a".repeat(500), "a".repeat(501)]);

const nameFrom = (draw: Draw): string =>
  draw.below(3) === 2 ? textFrom(draw) : draw.one(["add", "my tool/ä", "toString", "__proto__", ""]);

const argumentsFrom = (draw: Draw): string =>
  draw.below(2) === 0
    ? draw.one(["{}", "", "{", "null", "[1]", '{"a":1}', '{"a":"\\ud83d"}', '{"10":1,"2":2}'])
    : JSON.stringify(jsonFrom(draw, 3));

function jsonFrom(draw: Draw, depth: number): Json {
  const kind = draw.below(depth > 0 ? 5 : 3);
  if (kind === 0) return draw.one([null, true, false, 0, -1.5, 1e300]);
  if (kind < 3) return textFrom(draw);
  const items = draw.list(3, () => [nameFrom(draw), jsonFrom(draw, depth - 1)] as const);
  return kind === 3 ? items.map(([, value]) => value) : Object.fromEntries(items);
}

const fileFrom = (draw: Draw): LlmFile =>
  draw.one<LlmFile>([
    { mediaType: "image/png", data: "iVBORw0KGgo=" },
    { mediaType: "image/bmp", data: "AAAA" },
    { mediaType: "application/pdf", name: "a.pdf", url: "https://files.test/a.pdf" },
    { mediaType: "application/pdf", data: "AAAA" },
    { mediaType: "text/plain", name: "a.txt", data: "aGVsbG8=" },
    { mediaType: "video/mp4", data: "not base64" },
    { mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" },
  ]);

const contentFrom = (draw: Draw): LlmContent =>
  draw.below(2) === 0 ? { type: "text", text: textFrom(draw) } : { type: "file", file: fileFrom(draw) };

function messageFrom(draw: Draw, options: RequestChoiceOptions): LlmMessage {
  const role = draw.below(4);
  if (role === 0) return { role: "user", content: draw.list(3, () => contentFrom(draw)) };
  if (role === 1) return { role: "note", text: textFrom(draw) };
  const origin = draw.one([options.origin, "another-origin"]);
  const parts = draw.list(5, () => partFrom(draw, options.reasoning));
  const results = parts.filter(({ type }) => type === "tool-call").map(() => resultFrom(draw));
  return { role: "assistant", turn: { origin, parts }, results };
}

function partFrom(draw: Draw, reasoning: readonly LlmPart[]): LlmPart {
  const kind = draw.below(4);
  const thought = reasoning[draw.below(Math.max(1, reasoning.length))];
  if (kind === 2 && thought !== undefined) return thought;
  if (kind === 1)
    return { type: "tool-call", id: idFrom(draw), name: nameFrom(draw), arguments: argumentsFrom(draw) };
  return kind === 3 ? { type: "file", file: fileFrom(draw) } : { type: "text", text: textFrom(draw) };
}

const resultFrom = (draw: Draw): LlmToolResult => ({
  isError: draw.one([false, true]),
  content: textFrom(draw),
  files: draw.list(1, () => fileFrom(draw)),
});

const toolFrom = (draw: Draw): LlmTool => ({
  name: nameFrom(draw),
  description: textFrom(draw),
  schema: draw.one<LlmTool["schema"]>([
    { type: "object" },
    { type: "object", properties: { a: { type: "string" } } },
    { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false },
    { type: "object", properties: { "a\ud800": { type: "array", items: {} } } },
    { anyOf: [{ $ref: "#/$defs/a~1b" }, { required: ["x"] }], $defs: { "a/b": { not: { $ref: "#" } } } },
    {
      type: "object",
      properties: { "a[]": { type: ["string", "null"], pattern: "(?!x)", enum: ["y", null] } },
    },
  ]),
});

const uniqueByName = (tools: readonly LlmTool[]): readonly LlmTool[] => [
  ...new Map(tools.map((tool) => [tool.name, tool])).values(),
];

/** Every setting, each present in half of the requests. */
function settingsFrom(draw: Draw): LlmSettings {
  const optional = <Value>(value: () => Value): Value | undefined =>
    draw.below(2) === 0 ? undefined : value();
  return defined({
    maxOutputTokens: optional(() => 1 + draw.below(100_000)),
    temperature: optional(() => draw.one([0, 0.5, 1])),
    topP: optional(() => draw.one([0.5, 1])),
    seed: optional(() => draw.below(1_000_000)),
    stop: optional(() => draw.list(2, () => textFrom(draw))),
    reasoningEffort: optional(() => draw.one(["none", "minimal", "low", "medium", "high", "max"] as const)),
    confidence: optional(() => draw.one([true, false])),
  });
}
