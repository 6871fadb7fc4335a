import type { Json } from "@moora/llm";
import {
  fieldsOf,
  isJsonObject,
  StreamFaultError,
  textToJson,
  type ErrorRows,
  type StreamFault,
} from "@moora/llm/adapter";

/** The names of errors of the AI SDK, and of Amazon. */
export const aiSdkErrors: ErrorRows = [
  ["auth", /^(AccessDenied|UnrecognizedClient)Exception$|^AI_Load(APIKey|Setting)Error$/],
  ["rate-limit", /^ThrottlingException$/],
  ["overloaded", /^(ModelNotReady|ServiceUnavailable)Exception$/],
  ["server", /^(InternalServer|ModelStreamError|ModelTimeout)Exception$/],
  ["invalid-request", /^ValidationException$|^AI_(InvalidPrompt|UnsupportedFunctionality)Error$/],
  ["invalid-setting", /^AI_(NoSuchModel|InvalidArgument)Error$/],
];

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");

/** Errors about an answer that does not follow the protocol. */
const unreadable = ["AI_JSONParseError", "AI_TypeValidationError", "AI_InvalidResponseDataError"];

/**
 * The fault that an error of the AI SDK reports; undefined for an error that has to be classified by the progress of its
 * request. `hasStarted` is whether the answer has started.
 */
export function errorToFault(error: unknown, hasStarted: boolean): StreamFault | undefined {
  if (error instanceof StreamFaultError) return error.fault;
  const status = field(error, "statusCode");
  if (nameOf(error) === "AI_APICallError" && typeof status === "number" && status >= 400) {
    return {
      type: "response",
      status,
      headers: headersOf(error),
      body: textOf(field(error, "responseBody")),
    };
  }

  if (unreadable.includes(nameOf(error)) && errorToBody(error) === undefined)
    return { type: "unreadable", error };
  return hasStarted ? { type: "broken", error, sent: true, answered: true } : undefined;
}

const headersOf = (error: unknown): { get(name: string): string | null } => {
  const headers = field(error, "responseHeaders");
  return {
    get: (name) => {
      const value = field(headers, name.toLowerCase());
      return typeof value === "string" ? value : null;
    },
  };
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * What a provider reports in an error: the body of its response, the data of an error event, or, for an error of the AI SDK
 * itself, its name and message. Undefined for any other error.
 */
export function errorToBody(error: unknown): Json | undefined {
  if (nameOf(error) === "AI_TypeValidationError") return errorIn(field(error, "value"));
  if (nameOf(error) === "AI_APICallError") return textToJson(textOf(field(error, "responseBody")));
  if (error instanceof Error) {
    const isKnown = aiSdkErrors.some(([, pattern]) => pattern.test(error.name));
    return isKnown ? { error: { code: error.name, message: error.message } } : undefined;
  }
  if (typeof error !== "object" || error === null) return undefined;
  const { data, message, type, code, statusCode } = fieldsOf(error);
  const own = { message: message ?? "", type: type ?? "", code: code ?? "", status: statusCode ?? "" };
  return errorIn(data) ?? (message === undefined ? errorIn(fieldsOf(error)) : { error: own });
}

/** An object that contains an error, as the body of a response. */
function errorIn(value: unknown): Json | undefined {
  if (!isJsonObject(value)) return undefined;
  const { error, response, message } = value;
  if (isJsonObject(error) || typeof error === "string") return { error };
  if (isJsonObject(response)) return errorIn(response);
  return typeof message === "string" ? { error: value } : undefined;
}
