import { LLMock } from "@copilotkit/aimock";
import type { LlmCaller, LlmMessage, LlmOutcome, LlmRequest, LlmTurn } from "@moora/llm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { requestOf } from "./request-of.ts";

/** A provider that the mock knows, and how a caller reaches it. */
export interface MockedProvider {
  readonly name: string;
  readonly model: string;
  readonly callerAt: (url: string) => LlmCaller;
  /** A status, the error in its body, the kind of the failure that a caller makes of them, and whether a retry may help. */
  readonly failures: readonly (readonly [
    number,
    { readonly message: string; readonly type: string; readonly code?: string },
    string,
    boolean,
  ])[];
  /** How a caller reads what the model has thought; without it, neither that nor the ids of calls are compared. */
  readonly reasoning?: object;
}

const calls = [
  { id: "call_1", name: "add", arguments: '{"a":1,"b":2}' },
  { id: "call_2", name: "add", arguments: '{"a":3,"b":4}' },
];

const partsOf = (outcome: LlmOutcome): LlmTurn["parts"] => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.failure));
  return outcome.turn.parts;
};

/** The parts without reasoning, which the mock adds for models that support it. */
const contentOf = (outcome: LlmOutcome): LlmTurn["parts"] =>
  partsOf(outcome).filter(({ type }) => type !== "reasoning");

/** What a caller reads of the reasoning and the calls. */
const readOf = ({ reasoning }: MockedProvider): readonly object[] => {
  if (reasoning === undefined)
    return calls.map(({ name, arguments: given }) => ({ type: "tool-call", name, arguments: given }));
  return [
    { type: "reasoning", text: "I must add twice.", ...reasoning },
    ...calls.map((call) => ({ type: "tool-call", ...call })),
  ];
};

/** Runs callers against an independent server: its understanding of the protocol must match that of our own test servers. */
export function describeAgainstMock(providers: readonly MockedProvider[]): void {
  let mock: LLMock;
  beforeAll(async () => {
    mock = await LLMock.create({ port: 0, strict: true, chunkSize: 4 });
  });
  beforeEach(() => mock.clearFixtures());
  afterAll(() => mock.stop());

  describe.each(providers)("$name against a mock of the provider", (provider) => {
    const callerOf = (): LlmCaller => provider.callerAt(mock.url);

    const question = (text: string, ...more: readonly LlmMessage[]): LlmRequest =>
      requestOf({
        model: provider.model,
        messages: [{ role: "user", content: [{ type: "text", text }] }, ...more],
        tools: [
          {
            name: "add",
            description: "Adds.",
            schema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
          },
        ],
      });

    it("answers and streams", async () => {
      mock.on({ userMessage: "hello" }, { content: "Hello, what can I do for you?" });
      const pieces: string[] = [];
      const outcome = await callerOf().call(question("hello"), {
        onChunk: (chunk) => chunk.type === "text" && pieces.push(chunk.text),
      });
      expect(contentOf(outcome)).toMatchObject([{ type: "text", text: "Hello, what can I do for you?" }]);
      expect(pieces.length).toBeGreaterThan(1);
      expect(pieces.join("")).toBe("Hello, what can I do for you?");
    });

    it("reasons, calls tools in parallel, and answers with their results", async () => {
      const thought = { reasoning: "I must add twice.", reasoningSignature: "sig-abc" };
      mock.on({ userMessage: "sum", hasToolResult: false }, { ...thought, toolCalls: calls });
      mock.on({ userMessage: "sum", hasToolResult: true }, { content: "The sums are 3 and 7." });
      const caller = callerOf();
      const outcome = await caller.call(question("sum"));
      const shown = provider.reasoning === undefined ? contentOf(outcome) : partsOf(outcome);
      expect(shown).toMatchObject(readOf(provider));
      if (!outcome.ok) throw new Error("checked above");
      const results = ["3", "7"].map((content) => ({ isError: false, content }));
      const next = await caller.call(question("sum", { role: "assistant", turn: outcome.turn, results }));
      expect(contentOf(next)).toMatchObject([{ type: "text", text: "The sums are 3 and 7." }]);
    });

    it.each(provider.failures)(
      "sends a request that fails with %i %j once, as %s",
      async (status, error, kind, retryable) => {
        mock.on({ userMessage: "hello" }, { content: "Hello" });
        mock.nextRequestError(status, error);
        const before = mock.getRequests().length;
        const outcome = await callerOf().call(question("hello"));
        expect(outcome).toMatchObject({ ok: false, failure: { kind, retryable, status } });
        expect(mock.getRequests().length - before).toBe(1);
      },
    );

    it("is interrupted when the server closes the connection", async () => {
      const content = "a rather long answer that never reaches its end";
      mock.on({ userMessage: "cut" }, { content }, { truncateAfterChunks: 4, latency: 2 });
      const outcome = await callerOf().call(question("cut"));
      expect(outcome).toMatchObject({ ok: false, failure: { kind: "interrupted", retryable: true } });
      expect(!outcome.ok && content.startsWith(outcome.partial)).toBe(true);
    });
  });
}
