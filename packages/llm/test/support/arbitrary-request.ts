import fc from "fast-check";
import type {
  LlmContent,
  LlmMessage,
  LlmPart,
  LlmRequest,
  LlmSettings,
  LlmTool,
  LlmToolChoice,
} from "../../src/index.ts";

/** Text of all kinds: blank, half characters, long, hostile. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.constantFrom("", " ", "\n", "\ud83d", "Error: no", "__proto__", "<note>"),
);
const id = fc.oneof(fc.constantFrom("1", "2", "x01", "", "tool 1/ä", "a".repeat(500)), text);
const name = fc.oneof(fc.constantFrom("add", "my tool/ä", "toString", "__proto__", ""), text);
const made = fc.oneof(
  fc.json(),
  fc.constantFrom("", "{", "null", "[1]", '{"a":1}', '{"a":"\\ud83d"}', '{"10":1,"2":2}'),
);
const file = fc.oneof(
  fc.constant({ mediaType: "image/png", data: "iVBORw0KGgo=" }),
  fc.constant({ mediaType: "image/bmp", data: "AAAA" }),
  fc.constant({ mediaType: "application/pdf", name: "a.pdf", url: "https://files.test/a.pdf" }),
  fc.constant({ mediaType: "application/pdf", data: "AAAA" }),
  fc.constant({ mediaType: "text/plain", name: "a.txt", data: "aGVsbG8=" }),
  fc.constant({ mediaType: "video/mp4", data: "not base64" }),
);
const content: fc.Arbitrary<LlmContent> = fc.oneof(
  text.map((words) => ({ type: "text", text: words }) as const),
  file.map((one) => ({ type: "file", file: one }) as const),
);

const part = (reasoning: fc.Arbitrary<LlmPart>): fc.Arbitrary<LlmPart> =>
  fc.oneof(
    text.map((words) => ({ type: "text", text: words }) as const),
    fc.record({ type: fc.constant("tool-call"), id, name, arguments: made }),
    reasoning,
  );

const assistant = (origin: string, reasoning: fc.Arbitrary<LlmPart>): fc.Arbitrary<LlmMessage> =>
  fc
    .record({
      origin: fc.constantFrom(origin, "elsewhere"),
      parts: fc.array(part(reasoning), { maxLength: 5 }),
    })
    .chain((turn) => {
      const calls = turn.parts.filter(({ type }) => type === "tool-call").length;
      return fc.record({
        role: fc.constant("assistant"),
        turn: fc.constant(turn),
        results: fc.array(
          fc.record({ isError: fc.boolean(), content: text, files: fc.array(file, { maxLength: 1 }) }),
          { minLength: calls, maxLength: calls },
        ),
      });
    });

const tools: fc.Arbitrary<readonly LlmTool[]> = fc.uniqueArray(
  fc.record({
    name,
    description: text,
    schema: fc.constantFrom(
      { type: "object" },
      { type: "object", properties: { a: { type: "string" } } },
      { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false },
      { type: "object", properties: { "a\ud800": { type: "array", items: {} } } },
    ),
  }),
  { maxLength: 4, selector: (tool) => tool.name },
);

const settings: fc.Arbitrary<LlmSettings> = fc.record(
  {
    maxOutputTokens: fc.integer({ min: 1, max: 100_000 }),
    temperature: fc.constantFrom(0, 0.5, 1),
    topP: fc.constantFrom(0.5, 1),
    seed: fc.nat(),
    stop: fc.array(text, { maxLength: 2 }),
    reasoningEffort: fc.constantFrom("none", "minimal", "low", "medium", "high", "max"),
    confidence: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** Any request that the port allows. `reasoning` makes parts that their origin takes back. */
export const arbitraryRequest = (
  origin: string,
  reasoning: fc.Arbitrary<LlmPart>,
): fc.Arbitrary<LlmRequest> =>
  fc
    .record({
      purpose: fc.constantFrom("plan", "reflect"),
      model: fc.constant("some-model"),
      system: text,
      messages: fc.array(
        fc.oneof(
          fc.record({ role: fc.constant("user"), content: fc.array(content, { maxLength: 3 }) }),
          fc.record({ role: fc.constant("note"), text }),
          assistant(origin, reasoning),
        ),
        { minLength: 1, maxLength: 8 },
      ),
      tools,
      parallelToolCalls: fc.boolean(),
      settings,
    })
    .chain((request) =>
      fc
        .constantFrom<LlmToolChoice>(
          "auto",
          "none",
          "required",
          ...request.tools.map((tool) => ({ name: tool.name })),
        )
        .map((toolChoice): LlmRequest => ({
          ...request,
          // A conversation begins with a word of the user's.
          messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }, ...request.messages],
          toolChoice,
        })),
    );
