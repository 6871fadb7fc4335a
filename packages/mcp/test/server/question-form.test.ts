import {
  Client,
  specTypeSchemas,
  StreamableHTTPClientTransport,
  type CallToolResult,
} from "@modelcontextprotocol/client";
import { askHuman, defineAgent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import type { Json, JsonObject } from "@moora/llm";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { mcpServer } from "@moora/mcp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

interface Form {
  readonly message: string;
  readonly requestedSchema: {
    readonly properties: Readonly<Record<string, object>>;
    readonly required: readonly string[];
  };
}

type Content = Readonly<Record<string, string | number | boolean>>;

interface Asked {
  /** The forms that the client got, in their order, as they were sent. */
  readonly sent: readonly Form[];
  readonly result: CallToolResult;
  /** What the log contains. */
  readonly records: string;
}

/** Calls an agent that asks for an answer of a schema; the official client answers the forms with these contents, then closes them. */
async function ask(answer: JsonObject | z.ZodType, ...contents: readonly Content[]): Promise<Asked> {
  const asks = callsTools([{ name: "ask", arguments: { question: "What?" } }]);
  const llm = new MockLlmCaller([asks, answers("Thank you.")]);
  const agent = defineAgent({ name: "asker", llm, tools: [askHuman({ name: "ask", answer })] });
  const log = memoryLog();
  await using server = mcpServer([agent], { log });
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    },
  );
  const given = contents.values();
  client.setRequestHandler("elicitation/create", () => {
    const { done, value } = given.next();
    return done === true ? { action: "cancel" } : { action: "accept", content: { ...value } };
  });
  const texts: string[] = [];
  const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const headers = new Headers(init?.headers);
    headers.set("host", "localhost");
    const response = await server.fetch(new Request(url, { ...init, headers }));
    texts.push(await response.clone().text());
    return response;
  };
  await client.connect(new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch }));
  const result = await client.callTool({ name: "asker", arguments: { task: "Ask." } });
  await client.close();
  const [{ id } = { id: "" }] = await log.list();
  const records = (await (await log.open(id))?.read())?.map(({ body }) => body).join("\n") ?? "";
  return { sent: texts.flatMap(formsIn), result, records };
}

/** The forms in a response, which is JSON or a stream of events. */
function formsIn(text: string): Form[] {
  const messages = text.startsWith("{") ? [text] : text.split("\n").flatMap(dataOf);
  return messages.flatMap((message) => {
    const { result } = JSON.parse(message) as {
      readonly result?: { readonly inputRequests?: Readonly<Record<string, { readonly params: Form }>> };
    };
    return Object.values(result?.inputRequests ?? {}).map(({ params }) => params);
  });
}

const dataOf = (line: string): string[] => (line.startsWith("data: {") ? [line.slice(6)] : []);

const text = fc.constantFrom("", "a", "Size", "2026-01-01", "__proto__");
const value: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.constantFrom<Json>(0, 1.5, -3, true, null, ["a"], { a: 1 }),
);
const count = fc.nat(9);

/** A schema of a simple type, with any keyword that JSON Schema has for one. */
const field: fc.Arbitrary<JsonObject> = fc.record(
  {
    type: fc.constantFrom("string", "number", "integer", "boolean"),
    title: text,
    description: text,
    default: value,
    const: value,
    enum: fc.oneof(
      fc.uniqueArray(text, { minLength: 1, maxLength: 3 }),
      fc.array(value, { minLength: 1, maxLength: 3 }),
    ),
    oneOf: fc.array(fc.record({ const: value, title: text }, { requiredKeys: ["const"] }), {
      minLength: 1,
      maxLength: 2,
    }),
    format: fc.constantFrom(
      "email",
      "uri",
      "date",
      "date-time",
      "time",
      "uuid",
      "ipv4",
      "regex",
      "int53",
      "",
    ),
    pattern: fc.constantFrom("^a+$", "."),
    minLength: count,
    maxLength: count,
    minimum: fc.integer(),
    maximum: fc.integer(),
    exclusiveMinimum: fc.integer(),
    multipleOf: fc.constantFrom(1, 0.5),
    contentEncoding: fc.constantFrom("base64"),
    examples: fc.array(value, { maxLength: 2 }),
    readOnly: fc.boolean(),
  },
  { requiredKeys: ["type"] },
);

const name = fc.constantFrom("a", "size", "constructor", "toString", "answer", "a b");

const fields: fc.Arbitrary<JsonObject> = fc
  .dictionary(name, field, { maxKeys: 3 })
  .chain((properties) =>
    fc
      .subarray(Object.keys(properties))
      .map((required): JsonObject => ({ type: "object", properties, required, additionalProperties: false })),
  );

const nested: JsonObject = { type: "object", properties: { a: { type: "array", items: {} } } };
const beside: JsonObject = { type: "object", properties: {}, required: ["a"] };

const schema = fc.oneof(fields, field, fc.constantFrom(nested, beside, { type: ["string", "null"] }));

describe("the form of a question", () => {
  it("is one that the official client accepts, with the keywords of the protocol only", async () => {
    await fc.assert(
      fc.asyncProperty(schema, async (answer) => {
        const { sent, result } = await ask(answer);
        expect(sent).toHaveLength(1);
        expect(JSON.stringify(result.content)).toContain("The agent waits");
        const [form] = sent;
        const parsed = specTypeSchemas.ElicitRequestFormParams["~standard"].validate(form);
        expect(parsed).toEqual({ value: form });
        const { properties, required } = form?.requestedSchema ?? { properties: {}, required: [] };
        for (const each of required) expect(Object.hasOwn(properties, each)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it("leaves out a format that the protocol does not have; the answer is checked all the same", async () => {
    const id = "550e8400-e29b-41d4-a716-446655440000";
    const { sent, result, records } = await ask(z.object({ id: z.uuid() }), { id: "mine" }, { id });
    expect(sent.map(({ requestedSchema }) => requestedSchema.properties)).toEqual([
      { id: { type: "string" } },
      { id: { type: "string" } },
    ]);
    expect(result.structuredContent).toMatchObject({ answer: "Thank you." });
    expect(records).toContain(id);
  });

  it("asks for one text where it cannot show the answer", async () => {
    const { sent, records } = await ask(z.object({ sizes: z.array(z.number()) }), {
      answer: '{"sizes":[4]}',
    });
    expect(sent[0]?.requestedSchema).toMatchObject({
      properties: { answer: { type: "string", title: "Answer, as JSON" } },
      required: ["answer"],
    });
    expect(records).toContain('\\"sizes\\":[4]');
  });

  it("has one field for an answer of a simple type", async () => {
    const size = await ask(z.enum(["S", "M"]), { answer: "M" });
    expect(size.sent[0]?.requestedSchema.properties).toEqual({
      answer: { type: "string", title: "Answer", enum: ["S", "M"] },
    });
    expect(size.result.isError).toBeUndefined();
    const age = await ask(z.number(), { answer: 42 });
    expect(age.sent[0]?.requestedSchema.properties).toEqual({ answer: { type: "number", title: "Answer" } });
    expect(age.result.isError).toBeUndefined();
  });

  it.each<[string, z.ZodType, string]>([
    ["a string", z.string(), "42"],
    ["a string", z.string(), "true"],
    ["a string or null", z.string().nullable(), "42"],
    ["one of two strings", z.union([z.literal("1"), z.literal("2")]), "2"],
    ["a number or null", z.number().nullable(), "42"],
    ["a list", z.array(z.string()), '["a"]'],
  ])("takes the text of an answer that is %s as it is, or as JSON: %#", async (_, answer, given) => {
    const { sent, result } = await ask(answer, { answer: given });
    expect(sent).toHaveLength(1);
    expect(result.structuredContent).toMatchObject({ answer: "Thank you." });
  });

  it("says why the last answer was refused", async () => {
    const { sent, result } = await ask(z.array(z.string()).max(1), { answer: "[1]" }, { answer: '["a"]' });
    expect(sent).toHaveLength(2);
    expect(sent[0]?.message).toBe("What?");
    expect(sent[1]?.message).toMatch(/^What\?\n\nThe last answer was refused: (?!decision).*string/);
    expect(result.structuredContent).toMatchObject({ answer: "Thank you." });
  });
});
