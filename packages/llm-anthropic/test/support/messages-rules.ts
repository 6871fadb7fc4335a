import { isJsonObject, type Json, type JsonObject } from "@moora/llm";
import {
  firstOf,
  isBlank,
  isStrictId,
  Ledger,
  objectsIn,
  onlyKnown,
  textIn,
  wellFormedText,
  type Complaints,
} from "../../../llm/test/support/rules.ts";

/** Why the Messages API would answer with 400, or undefined. `issued` are the signatures it gave out. */
export const whyNotMessages = (body: JsonObject, issued: readonly string[]): string | undefined =>
  firstOf(complaints(body, issued));

const known = [
  ..."model max_tokens messages system tools tool_choice stream cache_control stop_sequences".split(" "),
  ..."thinking output_config service_tier".split(" "),
];

function* complaints(body: JsonObject, issued: readonly string[]): Complaints {
  yield* onlyKnown(body, known);
  yield* wellFormedText(body);
  if (isBlank(body["model"])) yield "model: Field required";
  if (typeof body["max_tokens"] !== "number") yield "max_tokens: Field required";
  if (body["stream"] !== true) yield "this has to be a stream";
  if (JSON.stringify(body).split('"cache_control"').length - 1 > 4)
    yield "A maximum of 4 blocks with cache_control may be provided.";
  if (body["system"] !== undefined)
    yield* textComplaints(yield* objectsIn(body["system"], "system"), "system");
  yield* toolComplaints(body);
  yield* messageComplaints(yield* objectsIn(body["messages"], "messages"), issued);
}

function* toolComplaints(body: JsonObject): Complaints {
  if (body["tools"] === undefined) {
    if (body["tool_choice"] !== undefined) yield "tool_choice may only be specified while providing tools";
    return;
  }
  const tools = yield* objectsIn(body["tools"], "tools");
  const names = tools.map((tool) => tool["name"]);
  if (new Set(names).size < names.length) yield "tools: Tool names must be unique.";
  for (const { name, input_schema: schema } of tools) {
    if (!isStrictId(name)) yield `tools: the name ${textIn(name)} does not fit`;
    if (!isJsonObject(schema) || schema["type"] !== "object") yield "input_schema.type: has to be object";
  }
  const choice = body["tool_choice"];
  if (isJsonObject(choice) && choice["type"] === "tool" && !names.includes(choice["name"]))
    yield "Tool not found";
}

function* messageComplaints(messages: readonly JsonObject[], issued: readonly string[]): Complaints {
  if (messages.length === 0) yield "messages: at least one message is required";
  const ledger = new Ledger();
  for (const [index, { role, content }] of messages.entries()) {
    const where = `messages.${index}`;
    if (role !== (index % 2 === 0 ? "user" : "assistant"))
      yield `${where}: roles must alternate, beginning with user`;
    const blocks = yield* objectsIn(content, where);
    if (blocks.length === 0) yield `${where}: content is empty`;
    yield* textComplaints(blocks, where);
    if (role === "user") yield* userComplaints(blocks, where, ledger);
    else yield* assistantComplaints(blocks, where, ledger, issued);
  }
  if (messages.at(-1)?.["role"] !== "user") yield "This model does not support assistant message prefill.";
}

function* textComplaints(blocks: readonly JsonObject[], where: string): Complaints {
  for (const block of blocks) {
    if (block["type"] === "text" && isBlank(block["text"]))
      yield `${where}: text content blocks must be non-empty`;
  }
}

function* userComplaints(blocks: readonly JsonObject[], where: string, ledger: Ledger): Complaints {
  const results = blocks.filter((block) => block["type"] === "tool_result");
  if (blocks.slice(0, results.length).some((block) => block["type"] !== "tool_result")) {
    yield `${where}: tool_result blocks must come first`;
  }
  for (const block of results) {
    yield* ledger.result(block["tool_use_id"]);
    const { content } = block;
    if (typeof content === "string" ? isBlank(content) : (yield* objectsIn(content, where)).length === 0) {
      yield `${where}: a tool_result is empty`;
    }
    const isText = typeof content === "string" || (Array.isArray(content) && content.every(isTextBlock));
    if (block["is_error"] === true && !isText) yield `${where}: all content must be text if is_error is true`;
    if (Array.isArray(content)) yield* textComplaints(yield* objectsIn(content, where), where);
  }
  yield* ledger.settled(`the text of ${where}`);
}

const isTextBlock = (block: Json): boolean => isJsonObject(block) && block["type"] === "text";

function* assistantComplaints(
  blocks: readonly JsonObject[],
  where: string,
  ledger: Ledger,
  issued: readonly string[],
): Complaints {
  yield* ledger.settled(where);
  for (const block of blocks) {
    if (block["type"] === "tool_use") {
      yield* ledger.call(block["id"]);
      if (!isStrictId(block["name"])) yield `${where}: the name of a tool_use does not fit`;
      if (!isJsonObject(block["input"])) yield `${where}: input: has to be an object`;
    }
    if (block["type"] === "thinking") {
      const { signature, thinking } = block;
      if (
        typeof signature !== "string" ||
        !issued.includes(signature) ||
        signature !== signatureOf(thinking)
      ) {
        yield `${where}: Invalid \`signature\` in \`thinking\` block`;
      }
    }
    if (block["type"] === "redacted_thinking" && !issued.includes(textIn(block["data"]))) {
      yield `${where}: Invalid \`data\` in \`redacted_thinking\` block`;
    }
  }
  const last = textIn(blocks.at(-1)?.["type"] ?? "");
  if (last.endsWith("thinking"))
    yield `${where}: The final block in an assistant message cannot be \`thinking\`.`;
}

/** What a server gives out for thinking, and can check again. */
export const signatureOf = (thinking: Json | undefined): string =>
  `sig-${Buffer.from(JSON.stringify(thinking) ?? "").toString("base64")}`;
