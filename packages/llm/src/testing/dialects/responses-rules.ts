import { isJsonObject, type Json, type JsonObject } from "../../json.ts";
import {
  CallOrder,
  contentProblems,
  firstProblem,
  headProblems,
  isStrictId,
  objectArguments,
  objectsIn,
  type Problems,
} from "./wire-rules.ts";
import { dialectOf, formatProblems, toolProblems } from "./schema-rules.ts";

/**
 * Why the Responses API would reject the body of a request with status 400; undefined for a valid body. `issued` lists the
 * encrypted reasoning that the server has issued.
 */
export const responsesRequestProblem = (body: JsonObject, issued: readonly string[]): string | undefined =>
  firstProblem(problems(body, issued));

const knownParameters =
  "model input instructions tools tool_choice parallel_tool_calls text reasoning include store stream max_output_tokens temperature top_p prompt_cache_key service_tier";

function* problems(body: JsonObject, issued: readonly string[]): Problems {
  yield* headProblems(body, knownParameters, { stream: true, store: false });
  const key = body["prompt_cache_key"];
  if (key !== undefined && (typeof key !== "string" || key.length > 64)) yield "prompt_cache_key is too long";
  const tools = body["tools"] === undefined ? [] : yield* objectsIn(body["tools"], "tools");
  for (const { type, strict } of tools)
    if (type !== "function" || typeof strict !== "boolean") yield "a tool must be a function with strict";
  const { tool_choice: choice } = body;
  yield* toolProblems(
    tools.map(({ name, parameters, strict }) => ({ name, schema: parameters, dialect: dialectOf(strict) })),
    isJsonObject(choice) ? choice["name"] : undefined,
  );
  if (isJsonObject(body["text"])) yield* formatProblems(body["text"]["format"], "text.format");
  yield* itemProblems(yield* objectsIn(body["input"], "input"), issued);
}

function* itemProblems(items: readonly JsonObject[], issued: readonly string[]): Problems {
  if (items.length === 0) yield "input is empty";
  const calls = new CallOrder();
  for (const [index, item] of items.entries()) {
    const { type, call_id: id } = item;
    if (type === "function_call") {
      if (!isStrictId(item["name"])) yield `invalid tool name: ${JSON.stringify(item["name"])}`;
      yield* calls.call(id);
      yield* objectArguments(item["arguments"], `input[${index}]`);
    } else if (type === "function_call_output") {
      yield* calls.result(id);
      yield* contentProblems(item["output"], `input[${index}].output`);
    } else if (type === "message" || (type === undefined && typeof item["role"] === "string")) {
      if (item["role"] !== "assistant") yield* calls.expectNoOpenCalls(`input[${index}]`);
      yield* contentProblems(item["content"], `input[${index}].content`);
    } else if (type === "image_generation_call") {
      if (typeof item["id"] !== "string" || typeof item["result"] !== "string")
        yield `input[${index}] needs id and result`;
    } else if (type === "reasoning") yield* reasoningProblems(item, items[index + 1], issued);
    else yield `input[${index}] has an unknown type`;
  }
  yield* calls.expectNoOpenCalls("the end");
}

function* reasoningProblems(
  item: JsonObject,
  next: JsonObject | undefined,
  issued: readonly string[],
): Problems {
  const { encrypted_content: token, summary } = item;
  if (typeof token !== "string" || !issued.includes(token))
    yield "The encrypted content could not be verified.";
  if (token !== encryptedContentOf(summary)) yield "The reasoning has been modified.";
  const isFollowed =
    next?.["role"] === "assistant" || next?.["type"] === "function_call" || next?.["type"] === "reasoning";
  if (!isFollowed)
    yield `Item '${JSON.stringify(item["id"])}' of type 'reasoning' has lost the item that followed it.`;
}

/** The encrypted content that a test server issues for a summary of reasoning, and later verifies. */
export const encryptedContentOf = (summary: Json | undefined): string =>
  `enc-${encodeURIComponent(JSON.stringify(summary) ?? "")}`;
