import { isJsonObject, type Json, type JsonObject } from "../../json.ts";
import {
  CallOrder,
  firstProblem,
  headProblems,
  isBlank,
  isStrictId,
  objectsIn,
  textIn,
  type Problems,
} from "./wire-rules.ts";
import { schemaDialects } from "../../schema/schema-dialects.ts";
import { schemaProblems, toolProblems } from "./schema-rules.ts";

/**
 * Why the Messages API would reject the body of a request with status 400; undefined for a valid body. `issued` lists the
 * signatures that the server has issued.
 */
export const messagesRequestProblem = (body: JsonObject, issued: readonly string[]): string | undefined =>
  firstProblem(problems(body, issued));

const knownParameters =
  "model max_tokens messages system tools tool_choice stream cache_control stop_sequences thinking output_config service_tier";

function* problems(body: JsonObject, issued: readonly string[]): Problems {
  yield* headProblems(body, knownParameters, { stream: true });
  if (typeof body["max_tokens"] !== "number") yield "max_tokens: Field required";
  if (breakpointsIn(body) > 4) yield "A maximum of 4 blocks with cache_control may be provided.";
  if (body["system"] !== undefined) yield* textProblems(yield* objectsIn(body["system"], "system"), "system");
  const tools = body["tools"] === undefined ? [] : yield* objectsIn(body["tools"], "tools");
  const { tool_choice: choice } = body;
  yield* toolProblems(
    tools.map(({ name, input_schema: schema }) => ({ name, schema, dialect: schemaDialects.anthropicTool })),
    isJsonObject(choice) && choice["type"] === "tool" ? choice["name"] : undefined,
  );
  const format = isJsonObject(body["output_config"]) ? body["output_config"]["format"] : undefined;
  if (isJsonObject(format))
    yield* schemaProblems(format["schema"], schemaDialects.anthropicAnswer, "output_config.format");
  yield* messageProblems(yield* objectsIn(body["messages"], "messages"), issued);
}

/** How many cache breakpoints a body contains. */
function breakpointsIn(value: Json | undefined): number {
  if (typeof value !== "object" || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, item: Json) => sum + breakpointsIn(item), 0);
  if (!isJsonObject(value)) return 0;
  let count = "cache_control" in value ? 1 : 0;
  for (const key in value) count += breakpointsIn(value[key]);
  return count;
}

function* messageProblems(messages: readonly JsonObject[], issued: readonly string[]): Problems {
  if (messages.length === 0) yield "messages: at least one message is required";
  const calls = new CallOrder();
  for (const [index, { role, content }] of messages.entries()) {
    const where = `messages.${index}`;
    if (role !== (index % 2 === 0 ? "user" : "assistant"))
      yield `${where}: roles must alternate, beginning with user`;
    const blocks = yield* objectsIn(content, where);
    if (blocks.length === 0) yield `${where}: content is empty`;
    yield* textProblems(blocks, where);
    if (role === "user") yield* userProblems(blocks, where, calls);
    else yield* assistantProblems(blocks, where, calls, issued);
  }
  if (messages.at(-1)?.["role"] !== "user") yield "This model does not support assistant message prefill.";
}

function* textProblems(blocks: readonly JsonObject[], where: string): Problems {
  for (const block of blocks) {
    if (block["type"] === "text" && isBlank(block["text"]))
      yield `${where}: text content blocks must be non-empty`;
  }
}

function* userProblems(blocks: readonly JsonObject[], where: string, calls: CallOrder): Problems {
  const results = blocks.filter((block) => block["type"] === "tool_result");
  if (blocks.slice(0, results.length).some((block) => block["type"] !== "tool_result"))
    yield `${where}: tool_result blocks must come first`;

  for (const block of results) {
    yield* calls.result(block["tool_use_id"]);
    const { content } = block;
    if (typeof content === "string" ? isBlank(content) : (yield* objectsIn(content, where)).length === 0)
      yield `${where}: a tool_result is empty`;

    const isText = typeof content === "string" || (Array.isArray(content) && content.every(isTextBlock));
    if (block["is_error"] === true && !isText) yield `${where}: all content must be text if is_error is true`;
    if (Array.isArray(content)) yield* textProblems(yield* objectsIn(content, where), where);
  }
  yield* calls.expectNoOpenCalls(`the text of ${where}`);
}

const isTextBlock = (block: Json): boolean => isJsonObject(block) && block["type"] === "text";

function* assistantProblems(
  blocks: readonly JsonObject[],
  where: string,
  calls: CallOrder,
  issued: readonly string[],
): Problems {
  yield* calls.expectNoOpenCalls(where);
  for (const block of blocks) {
    if (block["type"] === "tool_use") {
      yield* calls.call(block["id"]);
      if (!isStrictId(block["name"])) yield `${where}: invalid name of a tool_use block`;
      if (!isJsonObject(block["input"])) yield `${where}: input: must be an object`;
    }
    if (block["type"] === "thinking") {
      const { signature, thinking } = block;
      if (typeof signature !== "string" || !issued.includes(signature) || signature !== signatureOf(thinking))
        yield `${where}: Invalid \`signature\` in \`thinking\` block`;
    }
    if (block["type"] === "redacted_thinking" && !issued.includes(textIn(block["data"])))
      yield `${where}: Invalid \`data\` in \`redacted_thinking\` block`;
  }
  const last = textIn(blocks.at(-1)?.["type"] ?? "");
  if (last.endsWith("thinking"))
    yield `${where}: The final block in an assistant message cannot be \`thinking\`.`;
}

/** The signature that a test server issues for thinking, and later verifies. */
export const signatureOf = (thinking: Json | undefined): string =>
  `sig-${encodeURIComponent(JSON.stringify(thinking) ?? "")}`;
