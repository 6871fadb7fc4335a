/**
 * What one API takes as the schema of a tool or of an answer. All of them take `type`, `title`, `description`, `properties`, `required`,
 * `additionalProperties`, `items`, `enum`, `anyOf`, and `$ref` to `$defs`, with an object as the root.
 */
export interface SchemaDialect {
  /** Whether objects may have unnamed keys ("open"), have none ("closed"), or have exactly the named ones ("complete"). */
  readonly objects: "open" | "closed" | "complete";
  /** Further keywords that are sent. Limits that are not become part of the description. */
  readonly keywords: readonly string[];
  /** Values of `format` that are sent. */
  readonly formats: readonly string[];
  /** Whether a schema may contain itself. */
  readonly recursion: boolean;
  /** Whether `type` may be a list. */
  readonly typeLists: boolean;
  /** The types of the values of an `enum`. */
  readonly enumTypes: readonly string[];
  /** The names that properties of the root may have. Default: any. */
  readonly keys?: RegExp;
  /** The largest schema. Default: any size. */
  readonly limits?: Partial<Readonly<Record<SchemaSize, number>>>;
}

/**
 * The sizes of a schema that APIs limit. `optional` counts properties that are not required, and `unions` schemas with
 * `anyOf` or several types.
 */
export type SchemaSize = "depth" | "properties" | "enumValues" | "optional" | "unions";

const numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const formats = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
const most = [
  "const",
  "default",
  "pattern",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "uniqueItems",
].concat(numbers);
const scalars = ["string", "number", "boolean", "null"];
const keys = /^[A-Za-z0-9_.-]{1,64}$/;

/** JSON Schema without the keywords that few servers have. */
const open = { objects: "open", recursion: true, typeLists: true, enumTypes: scalars } as const;
const few = { ...open, keywords: [], formats: [], typeLists: false } as const;
const openAiLimits = { depth: 10, properties: 5000, enumValues: 1000 } as const;
const answers = { ...few, objects: "complete", limits: openAiLimits } as const;

/** Makes a row in a way that bundlers leave out where nothing uses it. */
const row = <Row>(make: () => Row): Row => make();

/**
 * `strict: true` of OpenAI: "Supported schemas" of https://platform.openai.com/docs/guides/structured-outputs. A pattern with
 * lookaround is refused as well.
 */
export const openAiStrict: SchemaDialect = /* @__PURE__ */ row(() => ({
  ...open,
  objects: "complete",
  keywords: ["const", "pattern", "minItems", "maxItems", ...numbers],
  formats,
  limits: openAiLimits,
}));

/** Functions of OpenAI without `strict`: the root is an object without a union, lists have `items`, and no pattern has lookaround. */
export const openAiOpen: SchemaDialect = /* @__PURE__ */ row(() => ({ ...open, keywords: most, formats }));

/** Other servers with Chat Completions. Some compile a schema to a grammar, and refuse patterns (llama.cpp) or limits (vLLM). */
export const chatTool: SchemaDialect = few;

/** Answers of those servers. */
export const chatAnswer: SchemaDialect = answers;

/**
 * The format of an answer of Anthropic: "JSON Schema limitations" and "Schema complexity limits" of
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs.
 */
export const anthropicAnswer: SchemaDialect = /* @__PURE__ */ row(() => ({
  ...open,
  objects: "closed",
  keywords: ["const"],
  formats: [...formats, "uri"],
  recursion: false,
  limits: { optional: 24, unions: 16 },
}));

/** Tools of Anthropic: JSON Schema 2020-12, without a union at the root; properties of the root have names of this form. */
export const anthropicTool: SchemaDialect = /* @__PURE__ */ row(() => ({
  ...open,
  keywords: most,
  formats: [...formats, "uri"],
  keys,
}));

/**
 * Tools of every provider of the AI SDK. Gemini has the fewest keywords: `responseJsonSchema` of
 * https://ai.google.dev/api/generate-content#generationconfig.
 */
export const aiSdkTool: SchemaDialect = /* @__PURE__ */ row(() => ({
  ...few,
  recursion: false,
  enumTypes: ["string", "number"],
  keys,
}));

/** Answers of every provider of the AI SDK. */
export const aiSdkAnswer: SchemaDialect = /* @__PURE__ */ row(() => ({
  ...answers,
  recursion: false,
  enumTypes: ["string", "number"],
}));

type DialectName =
  | `openAi${"" | "Strict"}`
  | `chat${"" | "Answer"}`
  | `${"anthropic" | "aiSdk"}${"Tool" | "Answer"}`;

/** One row for each form of a schema. Rows of answers and strict tools are used for schemas that have an equivalent there. */
export const schemaDialects: Readonly<Record<DialectName, SchemaDialect>> = /* @__PURE__ */ row(() => ({
  openAiStrict,
  openAi: openAiOpen,
  chat: chatTool,
  chatAnswer,
  anthropicAnswer,
  anthropicTool,
  aiSdkTool,
  aiSdkAnswer,
}));
