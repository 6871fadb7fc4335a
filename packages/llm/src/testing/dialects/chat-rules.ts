import { isJsonObject, type JsonObject } from "../../json.ts";
import {
  CallOrder,
  contentProblems,
  firstProblem,
  headProblems,
  isBlank,
  isStrictId,
  objectArguments,
  objectsIn,
  textIn,
  type Problems,
} from "./wire-rules.ts";
import { dialectOf, formatProblems, toolProblems } from "./schema-rules.ts";

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
  "model messages tools tool_choice response_format stream temperature top_p stop reasoning_effort";

function* problems(body: JsonObject, rules: ChatServerRules): Problems {
  const known = [knownParameters, ...(rules.knownParameters ?? [])].join(" ");
  yield* headProblems(body, known, { stream: true });
  const tools = body["tools"] === undefined ? [] : yield* objectsIn(body["tools"], "tools");
  const functions = tools.map(({ function: one }): JsonObject => (isJsonObject(one) ? one : {}));
  const { tool_choice: choice } = body;
  const chosen = isJsonObject(choice) ? choice["function"] : undefined;
  yield* toolProblems(
    functions.map(({ name, parameters, strict }) => ({
      name,
      schema: parameters,
      dialect: dialectOf(strict),
    })),
    isJsonObject(chosen) ? chosen["name"] : undefined,
  );
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
  const isCall = role === "assistant" && (content === null || content === "") && calls.length > 0;
  if (!isCall) yield* contentProblems(content, where);
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
