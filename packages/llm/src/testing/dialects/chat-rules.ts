import { isJsonObject, type JsonObject } from "../../json.ts";
import {
  firstProblem,
  isBlank,
  isStrictId,
  CallOrder,
  objectArguments,
  objectsIn,
  onlyKnown,
  textIn,
  wellFormedText,
  type Problems,
} from "./wire-rules.ts";
import { dialectOf, formatProblems, schemaProblems } from "./schema-rules.ts";

/** How the rules of a Chat Completions server differ from OpenAI's. */
export interface ChatServerRules {
  /** The format of tool call ids. Default: 1 to 64 letters, digits, _ or -. */
  readonly ids?: RegExp;
  /** Whether user and assistant messages must alternate and the last message must not be the assistant's. Default: false. */
  readonly requiresAlternation?: boolean;
  /** Whether a user message may follow a tool result. Default: true. */
  readonly allowsUserAfterTool?: boolean;
  /** The parameters of this server, in addition to the common ones. */
  readonly knownParameters?: readonly string[];
}

const openAi: ChatServerRules = {
  knownParameters:
    "max_completion_tokens seed parallel_tool_calls prompt_cache_key logprobs stream_options".split(" "),
};

/** The rules of Mistral: ids of nine characters, and alternating roles. */
export const mistralRules: ChatServerRules = {
  ids: /^[A-Za-z0-9]{9}$/,
  requiresAlternation: true,
  allowsUserAfterTool: false,
  knownParameters: ["max_tokens", "random_seed", "parallel_tool_calls"],
};

/** Why a Chat Completions server would reject the body of a request with status 400; undefined for a valid body. */
export const chatRequestProblem = (body: JsonObject, rules: ChatServerRules = openAi): string | undefined =>
  firstProblem(problems(body, rules));

const knownParameters =
  "model messages tools tool_choice response_format stream temperature top_p stop reasoning_effort".split(
    " ",
  );

function* problems(body: JsonObject, rules: ChatServerRules): Problems {
  yield* onlyKnown(body, [...knownParameters, ...(rules.knownParameters ?? [])]);
  yield* wellFormedText(body);
  if (isBlank(body["model"])) yield "you must provide a model parameter";
  if (body["stream"] !== true) yield "stream must be true";
  yield* toolProblems(body);
  const { response_format: format } = body;
  if (isJsonObject(format)) yield* formatProblems(format["json_schema"], "response_format");
  const messages = yield* objectsIn(body["messages"], "messages");
  const callOrder = new CallOrder();
  for (const [index, message] of messages.entries())
    yield* messageProblems(message, `messages[${index}]`, callOrder, rules);

  yield* callOrder.expectNoOpenCalls("the end");
  yield* orderProblems(
    messages.map(({ role }) => textIn(role)),
    rules,
  );
}

function* toolProblems(body: JsonObject): Problems {
  if (body["tools"] === undefined) {
    if (body["tool_choice"] !== undefined || body["parallel_tool_calls"] !== undefined)
      yield "tool_choice or parallel_tool_calls without tools";
    return;
  }
  const functions = (yield* objectsIn(body["tools"], "tools")).map((tool) => tool["function"]);
  const names = functions.map((one) => (isJsonObject(one) ? one["name"] : undefined));
  if (new Set(names).size < names.length) yield "tool names are not unique";
  for (const one of functions) {
    if (!isJsonObject(one) || !isStrictId(one["name"])) yield `invalid tool: ${textIn(one)}`;
    if (isJsonObject(one))
      yield* schemaProblems(one["parameters"], dialectOf(one["strict"]), textIn(one["name"]));
  }
  const choice = body["tool_choice"];
  if (isJsonObject(choice) && isJsonObject(choice["function"]) && !names.includes(choice["function"]["name"]))
    yield "tool_choice names an unknown tool";
}

function* messageProblems(
  message: JsonObject,
  where: string,
  callOrder: CallOrder,
  { ids = /^[A-Za-z0-9_-]{1,64}$/ }: ChatServerRules,
): Problems {
  const { role, content } = message;
  if (role === "tool") {
    yield* callOrder.result(message["tool_call_id"]);
    if (isBlank(content)) yield `${where} is blank`;
    return;
  }
  yield* callOrder.expectNoOpenCalls(where);
  const calls = message["tool_calls"] === undefined ? [] : yield* objectsIn(message["tool_calls"], where);
  if (role === "assistant" && (content === null || content === "") && calls.length > 0) {
    // Calls without text are valid.
  } else if (typeof content === "string") {
    if (isBlank(content)) yield `${where} is blank`;
  } else {
    const pieces = yield* objectsIn(content, where);
    if (pieces.length === 0 || pieces.some((piece) => "text" in piece && isBlank(piece["text"])))
      yield `${where} is blank`;
  }
  for (const { id, function: called } of calls) {
    if (!ids.test(textIn(id))) yield `Tool call id was ${textIn(id)}, which has an invalid format`;
    yield* callOrder.call(id);
    const { name, arguments: argumentsText }: JsonObject = isJsonObject(called) ? called : {};
    if (!isStrictId(name)) yield `invalid tool name: ${textIn(name)}`;
    yield* objectArguments(argumentsText, where);
  }
}

function* orderProblems(
  roles: readonly string[],
  { requiresAlternation, allowsUserAfterTool }: ChatServerRules,
): Problems {
  const conversation = roles.filter(
    (role, index) => index > 0 || (role !== "system" && role !== "developer"),
  );
  if (conversation.length === 0) yield "messages is empty";
  if (requiresAlternation && conversation[0] !== "user")
    yield `Expected the first role to be user, not ${conversation[0]}`;
  if (requiresAlternation && conversation.at(-1) === "assistant") yield "Expected last role User or Tool";
  for (const [index, role] of conversation.entries()) {
    const last = conversation[index - 1];
    if (requiresAlternation && role === last && role !== "tool") yield `two messages of ${role} in a row`;
    if (requiresAlternation && role === "system") yield "only the first message may have the role system";
    if (allowsUserAfterTool === false && role === "user" && last === "tool")
      yield "Unexpected role 'user' after role 'tool'";
  }
}
