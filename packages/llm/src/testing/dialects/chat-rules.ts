import { isJsonObject, type JsonObject } from "../../json.ts";
import {
  firstOf,
  isBlank,
  isStrictId,
  Ledger,
  objectArguments,
  objectsIn,
  onlyKnown,
  strictShape,
  textIn,
  wellFormedText,
  type Problems,
} from "./wire-rules.ts";

/** Where a server of Chat Completions differs from OpenAI. */
export interface ChatStrictness {
  /** The pattern of call ids. Default: 1 to 64 letters, digits, _ or -. */
  readonly ids?: RegExp;
  /** Whether user and assistant have to take turns, the last message being the user's or a tool's. Default: no. */
  readonly turns?: boolean;
  /** Whether a user message may follow the result of a tool. Default: yes. */
  readonly userAfterTool?: boolean;
  /** Parameters that this server knows, beside those that all servers know. */
  readonly known?: readonly string[];
}

const openAi: ChatStrictness = {
  known: "max_completion_tokens seed parallel_tool_calls prompt_cache_key logprobs stream_options".split(" "),
};

/** The rules of Mistral: ids of nine characters, and roles that take turns. */
export const mistralStrictness: ChatStrictness = {
  ids: /^[A-Za-z0-9]{9}$/,
  turns: true,
  userAfterTool: false,
  known: ["max_tokens", "random_seed", "parallel_tool_calls"],
};

/** Why a server of Chat Completions would refuse the body of a request with 400; undefined where it would not. */
export const chatRefusal = (body: JsonObject, strictness: ChatStrictness = openAi): string | undefined =>
  firstOf(problems(body, strictness));

const known =
  "model messages tools tool_choice response_format stream temperature top_p stop reasoning_effort".split(
    " ",
  );

function* problems(body: JsonObject, strictness: ChatStrictness): Problems {
  yield* onlyKnown(body, [...known, ...(strictness.known ?? [])]);
  yield* wellFormedText(body);
  if (isBlank(body["model"])) yield "you must provide a model parameter";
  if (body["stream"] !== true) yield "stream has to be true";
  yield* toolProblems(body);
  const messages = yield* objectsIn(body["messages"], "messages");
  const ledger = new Ledger();
  for (const [index, message] of messages.entries()) {
    yield* messageProblems(message, `messages[${index}]`, ledger, strictness);
  }
  yield* ledger.settled("the end");
  yield* orderProblems(
    messages.map(({ role }) => textIn(role)),
    strictness,
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
  ledger: Ledger,
  { ids = /^[A-Za-z0-9_-]{1,64}$/ }: ChatStrictness,
): Problems {
  const { role, content } = message;
  if (role === "tool") {
    yield* ledger.result(message["tool_call_id"]);
    if (isBlank(content)) yield `${where} is blank`;
    return;
  }
  yield* ledger.settled(where);
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
    yield* ledger.call(id);
    const { name, arguments: made }: JsonObject = isJsonObject(called) ? called : {};
    if (!isStrictId(name)) yield `the name of a call does not fit: ${textIn(name)}`;
    yield* objectArguments(made, where);
  }
}

function* orderProblems(roles: readonly string[], { turns, userAfterTool }: ChatStrictness): Problems {
  const spoken = roles.filter((role, index) => index > 0 || (role !== "system" && role !== "developer"));
  if (spoken.length === 0) yield "there is no message";
  if (turns && spoken[0] !== "user") yield `Expected the first role to be user, not ${spoken[0]}`;
  if (turns && spoken.at(-1) === "assistant") yield "Expected last role User or Tool";
  for (const [index, role] of spoken.entries()) {
    const last = spoken[index - 1];
    if (turns && role === last && role !== "tool") yield `${role} speaks twice`;
    if (turns && role === "system") yield "only the first message may be of the system";
    if (userAfterTool === false && role === "user" && last === "tool")
      yield "Unexpected role 'user' after role 'tool'";
  }
}
