import { isJsonObject, type JsonObject } from "../../json.ts";
import {
  firstProblem,
  isBlank,
  isStrictId,
  CallOrder,
  objectArguments,
  objectsIn,
  onlyKnown,
  strictShape,
  textIn,
  wellFormedText,
  type Problems,
} from "./wire-rules.ts";

/** Where a server of Chat Completions differs from OpenAI. */
export interface ChatServerRules {
  /** The pattern of call ids. Default: 1 to 64 letters, digits, _ or -. */
  readonly ids?: RegExp;
  /** Whether user and assistant have to take turns, the last message being the user's or a tool's. Default: no. */
  readonly requiresAlternation?: boolean;
  /** Whether a user message may follow the result of a tool. Default: yes. */
  readonly allowsUserAfterTool?: boolean;
  /** Parameters that this server knows, beside those that all servers know. */
  readonly known?: readonly string[];
}

const openAi: ChatServerRules = {
  known: "max_completion_tokens seed parallel_tool_calls prompt_cache_key logprobs stream_options".split(" "),
};

/** The rules of Mistral: ids of nine characters, and roles that take turns. */
export const mistralRules: ChatServerRules = {
  ids: /^[A-Za-z0-9]{9}$/,
  requiresAlternation: true,
  allowsUserAfterTool: false,
  known: ["max_tokens", "random_seed", "parallel_tool_calls"],
};

/** Why a server of Chat Completions would refuse the body of a request with 400; undefined where it would not. */
export const chatRequestProblem = (body: JsonObject, rules: ChatServerRules = openAi): string | undefined =>
  firstProblem(problems(body, rules));

const known =
  "model messages tools tool_choice response_format stream temperature top_p stop reasoning_effort".split(
    " ",
  );

function* problems(body: JsonObject, rules: ChatServerRules): Problems {
  yield* onlyKnown(body, [...known, ...(rules.known ?? [])]);
  yield* wellFormedText(body);
  if (isBlank(body["model"])) yield "you must provide a model parameter";
  if (body["stream"] !== true) yield "stream has to be true";
  yield* toolProblems(body);
  const messages = yield* objectsIn(body["messages"], "messages");
  const callOrder = new CallOrder();
  for (const [index, message] of messages.entries()) {
    yield* messageProblems(message, `messages[${index}]`, callOrder, rules);
  }
  yield* callOrder.expectNoOpenCalls("the end");
  yield* orderProblems(
    messages.map(({ role }) => textIn(role)),
    rules,
  );
}

function* toolProblems(body: JsonObject): Problems {
  if (body["tools"] === undefined) {
    if (body["tool_choice"] !== undefined || body["parallel_tool_calls"] !== undefined)
      yield "a choice without tools";
    return;
  }
  const functions = (yield* objectsIn(body["tools"], "tools")).map((tool) => tool["function"]);
  const names = functions.map((one) => (isJsonObject(one) ? one["name"] : undefined));
  if (new Set(names).size < names.length) yield "the names of tools are not unique";
  for (const one of functions) {
    if (!isJsonObject(one) || !isStrictId(one["name"])) yield `a tool does not fit: ${textIn(one)}`;
    if (isJsonObject(one) && one["strict"] === true)
      yield* strictShape(one["parameters"], textIn(one["name"]));
  }
  const choice = body["tool_choice"];
  if (
    isJsonObject(choice) &&
    isJsonObject(choice["function"]) &&
    !names.includes(choice["function"]["name"])
  ) {
    yield "tool_choice names an unknown tool";
  }
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
  if (role === "assistant" && content === null && calls.length > 0) {
    // Calls may stand alone.
  } else if (typeof content === "string") {
    if (isBlank(content)) yield `${where} is blank`;
  } else {
    const pieces = yield* objectsIn(content, where);
    if (pieces.length === 0 || pieces.some((piece) => "text" in piece && isBlank(piece["text"])))
      yield `${where} is blank`;
  }
  for (const { id, function: called } of calls) {
    if (!ids.test(textIn(id))) yield `Tool call id was ${textIn(id)}, which does not fit`;
    yield* callOrder.call(id);
    const { name, arguments: argumentsText }: JsonObject = isJsonObject(called) ? called : {};
    if (!isStrictId(name)) yield `the name of a call does not fit: ${textIn(name)}`;
    yield* objectArguments(argumentsText, where);
  }
}

function* orderProblems(
  roles: readonly string[],
  { requiresAlternation, allowsUserAfterTool }: ChatServerRules,
): Problems {
  const spoken = roles.filter((role, index) => index > 0 || (role !== "system" && role !== "developer"));
  if (spoken.length === 0) yield "there is no message";
  if (requiresAlternation && spoken[0] !== "user")
    yield `Expected the first role to be user, not ${spoken[0]}`;
  if (requiresAlternation && spoken.at(-1) === "assistant") yield "Expected last role User or Tool";
  for (const [index, role] of spoken.entries()) {
    const last = spoken[index - 1];
    if (requiresAlternation && role === last && role !== "tool") yield `${role} speaks twice`;
    if (requiresAlternation && role === "system") yield "only the first message may be of the system";
    if (allowsUserAfterTool === false && role === "user" && last === "tool")
      yield "Unexpected role 'user' after role 'tool'";
  }
}
