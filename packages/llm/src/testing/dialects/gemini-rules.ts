import { isJsonObject, type Json, type JsonObject } from "../../json.ts";
import { signatureOf } from "./messages-rules.ts";
import {
  CallOrder,
  firstProblem,
  headProblems,
  isBlank,
  objectsIn,
  textIn,
  type Problems,
} from "./wire-rules.ts";
import { schemaDialects } from "../../schema/schema-dialects.ts";
import { schemaProblems, toolProblems } from "./schema-rules.ts";

/**
 * Why the Gemini API would reject the body of a request with status 400; undefined for a valid body. `issued` lists the
 * signatures of thoughts that the server has issued.
 */
export const geminiRequestProblem = (body: JsonObject, issued: readonly string[]): string | undefined =>
  firstProblem(problems(body, issued));

const knownParameters =
  "contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent labels serviceTier";

const isName = (name: unknown): boolean =>
  typeof name === "string" && /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/.test(name);

function* problems(body: JsonObject, issued: readonly string[]): Problems {
  yield* headProblems(body, knownParameters, {});
  const lists = body["tools"] === undefined ? [] : yield* objectsIn(body["tools"], "tools");
  const { toolConfig } = body;
  const calling = isJsonObject(toolConfig) ? toolConfig["functionCallingConfig"] : undefined;
  yield* toolProblems(
    lists
      .flatMap(({ functionDeclarations }) => [functionDeclarations ?? []].flat())
      .filter((tool: Json) => isJsonObject(tool))
      .map(({ name, parametersJsonSchema: schema }) => ({ name, schema, dialect: schemaDialects.aiSdkTool })),
    isJsonObject(calling) ? calling["allowedFunctionNames"] : undefined,
    isName,
  );
  const { generationConfig: config } = body;
  if (isJsonObject(config) && config["responseJsonSchema"] !== undefined)
    yield* schemaProblems(config["responseJsonSchema"], schemaDialects.aiSdkTool, "responseJsonSchema");
  const contents = yield* objectsIn(body["contents"], "contents");
  if (contents.length === 0) yield "contents is not specified";
  const calls = new CallOrder();
  for (const [index, content] of contents.entries()) {
    const where = `contents[${index}]`;
    const parts = yield* objectsIn(content["parts"], `${where}.parts`);
    if (parts.length === 0) yield `${where}.parts must not be empty`;
    if (content["role"] === "user") yield* userProblems(parts, where, calls);
    else if (content["role"] === "model") yield* modelProblems(parts, where, calls, issued);
    else yield `Please use a valid role: user, model. Got ${textIn(content["role"])}`;
  }
  yield* calls.expectNoOpenCalls("the end");
  if (contents[0]?.["role"] !== "user") yield "the first content must have the role user";
  if (contents.at(-1)?.["role"] !== "user") yield "the last content must have the role user";
}

function* userProblems(parts: readonly JsonObject[], where: string, calls: CallOrder): Problems {
  const isResult = (part: JsonObject): boolean => isJsonObject(part["functionResponse"]);
  for (const { functionResponse } of parts.filter(isResult)) {
    if (!isJsonObject(functionResponse)) continue;
    yield* calls.result(functionResponse["id"]);
    if (!isJsonObject(functionResponse["response"])) yield `${where}: response must be an object`;
  }
  yield* calls.expectNoOpenCalls(where);
  for (const { text } of parts) if (text !== undefined && isBlank(text)) yield `${where} has blank text`;
}

function* modelProblems(
  parts: readonly JsonObject[],
  where: string,
  calls: CallOrder,
  issued: readonly string[],
): Problems {
  yield* calls.expectNoOpenCalls(where);
  for (const { functionCall, text, thought, thoughtSignature } of parts) {
    if (isJsonObject(functionCall)) {
      yield* calls.call(functionCall["id"]);
      if (!isName(functionCall["name"])) yield `${where}: invalid function name`;
      if (!isJsonObject(functionCall["args"])) yield `${where}: args must be an object`;
    }
    const isIssued = typeof thoughtSignature === "string" && issued.includes(thoughtSignature);
    if (thoughtSignature !== undefined && !isIssued) yield "Thought signature is not valid";
    if (thought === true && thoughtSignature !== signatureOf(text)) yield "Thought signature is not valid";
  }
  if (parts.at(-1)?.["thought"] === true) yield `${where} must not end in a thought`;
}
