import type { LlmFailure, LlmFailureKind } from "./outcome.ts";
import type { VendorError } from "./vendor-error.ts";

/** What an error is. An `invalid-setting` is an invalid request because of a setting, a tool or the model, and not of the messages. */
export type ErrorKind = LlmFailureKind | "invalid-setting";

/** What an error means: its kind, whether the content of the messages was refused, and what to do. */
export type ErrorMeaning = Pick<LlmFailure, "kind" | "blamesFiles"> & {
  readonly refusesContent: boolean;
  readonly advice?: string;
};

/** Rows of a table of errors: the first one that matches counts. */
export type ErrorRows = readonly (readonly [ErrorKind, RegExp])[];

/** The codes of providers. */
const codeRows: ErrorRows = [
  // 1113 is the number of Zhipu for an account without credit, 1261 for a prompt that is too long.
  ["billing", /billing|_billable$|_spend_limit_|^insufficient_quota$|^exceeded_current_quota_error$|^1113$/i],
  ["auth", /^(authentication|permission)_|api_key|^organization_on_hold$|^UNAUTHENTICATED$/i],
  ["rate-limit", /^(rate|ramp)_limit_|^RESOURCE_EXHAUSTED$/],
  ["overloaded", /overloaded|^slow_down$|^UNAVAILABLE$/],
  ["server", /^(api|server|internal_server|timeout|conflict)_error$|^cmek_|_timeout$/],
  ["server", /^(INTERNAL|UNKNOWN|DEADLINE_EXCEEDED)$/],
  ["context-length", /context_(length|size|window)|^request_too_large$|_above_max_length$|^1261$/],
  ["content-filter", /content_filter|_policy(_violation)?$|^invalid_prompt$/],
  // The model made a tool call that the server could not parse. The next answer may be valid.
  ["malformed", /^(tool_use|json_validate)_failed$/],
  ["invalid-setting", /^(model_)?not_found|_parameters?$|^unsupported_value$|^FAILED_PRECONDITION$/i],
  ["invalid-setting", /^data_residency_mismatch$/],
  ["invalid-request", /^invalid_(request|encrypted|argument)|^OUT_OF_RANGE$/i],
];

/** The kinds of statuses without a known code. */
const statuses: Readonly<Record<number, ErrorKind>> = {
  401: "auth",
  402: "billing",
  403: "auth",
  407: "auth",
  408: "server",
  409: "server",
  413: "context-length",
  425: "server",
  429: "rate-limit",
  529: "overloaded",
};

/** What the message says of an unspecific error. */
const messageRows: ErrorRows = [
  [
    "context-length",
    /\btokens \+ `?max_new_|\binput length and\b|\bcontext[ _-]?(length|window|size|limit)\b/i,
  ],
  ["context-length", /\b(prompt|input|conversation)\b.{0,40}\btoo (long|large)\b/i],
  [
    "context-length",
    /\bprompt contains \d+ tokens|\btoo many (input |prompt )?tokens|\breduce the length of\b|\brequest too large|\bmodel token limit|\bless than [\d,]+ tokens|\blonger than the maximum (model )?length/i,
  ],
  [
    "context-length",
    /\b(input token count\b.*|prompt|(input|prompt) (length|tokens?)( count)?( of)?( [\d,]+)?) exceeds?\b/i,
  ],
  ["context-length", /\b(range of|maximum( allowed)?) (input|prompt) length\b/i],
  ["content-filter", /\bcontent (filter|management|filtering|usage) polic|\binput was flagged\b/i],
  ["billing", /\bcredit balance is too low\b/i],
];

/** What is said of a `maxOutputTokens` that is larger than what the model can write. */
const outputLimit =
  /\bmax_?\w*tokens\b[^.]{0,80}?(too (large|high)|above|exceed|> ?\d|<=|or equal|cannot be greater|value of \d)|\brange of max_|\btokens you requested exceed|\bat most \d+ (completion|output) tokens\b/i;

/** What is said of input and output that together exceed the context. */
const inputTokens = /(\d+) (in the messages|of text input|input tokens|`inputs`|\+ \d+ >)/;
const outputTokens = /(\d+) (?:in the (?:completion|output)|output tokens|`max_new|>)|large: (\d+)/;

/** Whether an error is about the output that was asked for. Of a sum that is too large, the larger part is to blame. */
function isOutputTooLarge(message: string): boolean {
  const input = inputTokens.exec(message)?.[1];
  const [, output, other] = outputTokens.exec(message) ?? [];
  if (input !== undefined) return Number(output ?? other ?? 0) > Number(input);
  return outputLimit.test(message) && !/\btokens \+ |\binput length and\b/i.test(message);
}

/** The fields of a request that contain the conversation; `url` and those of files are inside it. */
const contentField = /^(messages|input|system|instructions|contents?|prompt|url|image|file|document)/;

/** Where a message names the field that it is about, for servers without a field of the error for it. */
const fieldPatterns = [
  /^(?:\* )?(?:GenerateContentRequest\.)?["'`]?((?:messages|system|contents|input)\b)/,
  /^["'`]?(model|max_\w+|temperature|top_[pk]|tools?|tool_choice|functions?|thinking|reasoning|reasoning_effort|output_config|response_format|stop|stop_sequences|seed|stream|stream_options|metadata|betas?)\b["'`]?(?:[.[][\w.[\]]*)?["'`]?(?::| (?:is|must|should|may)\b)/,
  /\b(?:GenerateContentRequest\.|at ')(\w+)/,
  /^(?:Invalid|Unsupported \w+:|Unknown parameter:|Missing required parameter:) '(\w+)/,
  /["']loc["']: ?[[(]["']body["'], ?["'](\w+)/,
];

/** What messages say of models, keys and settings. */
const aboutSettings =
  /\b(unknown|unrecognized|unsupported|missing|unexpected)\b( \w+)? (parameter|argument|keyword|header)\b|\b(unknown|unsupported|invalid) (\w+ )?(model|schema)\b|\bmodel\b.{0,80}\b(not found|not exist|no longer|deprecated|decommissioned)\b|\b(tool_choice|response_format|input_schema|api.?key)\b/i;

/** What messages say of the history, also where they begin with the name of a setting. */
const aboutMessages = /\b(assistant|user|tool)( \w+){0,2} messages?\b/i;

/** What messages say of a kind of file that a model does not take, also with a status such as 404. */
const aboutFileTypes = /\bsupports? (\w+ )?(images?|audio|videos?|files?|pdfs?|vision)\b/i;

const aboutFiles = /\b(images?|files?|pdf|documents?|media|mime|download|audio|video|url)\b/i;

/** The meaning of an error. `own`: the codes of its provider, in addition to the common ones. */
export function errorMeaning(
  vendor: VendorError,
  status: number | undefined,
  own: ErrorRows = [],
): ErrorMeaning {
  const known = kindOf(vendor, status, own);
  const isInvalid = known === "invalid-request" || known === "invalid-setting" || known === "context-length";
  if (isInvalid && isOutputTooLarge(vendor.message))
    return { kind: "invalid-request", refusesContent: false, advice: "Lower maxOutputTokens." };
  const kind = known === "invalid-setting" ? "invalid-request" : known;
  const refuses =
    kind === "context-length" || (kind === "invalid-request" && isAboutContent(vendor, status, known));
  return {
    kind,
    refusesContent: refuses,
    ...(refuses && aboutFiles.test(vendor.message) && { blamesFiles: true }),
  };
}

const kindIn = (rows: ErrorRows, text: string): ErrorKind | undefined =>
  rows.find(([, pattern]) => pattern.test(text))?.[0];

/** The kind by the provider's error codes first, because its status is often misleading, and then by the status. */
function kindOf({ codes, message }: VendorError, status: number | undefined, own: ErrorRows): ErrorKind {
  const rows = [...own, ...codeRows];
  const kind = codes.map((code) => kindIn(rows, code)).find((known) => known !== undefined);
  // A limit of tokens per minute is not the limit of the context, unless a single request exceeds it.
  const usesMessage = status !== 429 || /\brequest too large\b/i.test(message);
  const isUnspecific = kind === undefined || kind.startsWith("invalid-") || kind === "rate-limit";
  const said = isUnspecific && usesMessage ? kindIn(messageRows, message) : undefined;
  if (said !== undefined || kind !== undefined) return said ?? kind ?? "server";
  if (status === undefined || status >= 500) return statuses[status ?? 0] ?? "server";
  return statuses[status] ?? "invalid-request";
}

/** Whether a provider refused a request for what its messages contain. Where that is not clear, it did. */
function isAboutContent(
  { message, field }: VendorError,
  status: number | undefined,
  kind: ErrorKind,
): boolean {
  if (aboutFileTypes.test(message)) return true;
  if (status !== undefined && ![400, 413, 415, 422].includes(status)) return false;
  if (field === undefined && aboutMessages.test(message)) return true;
  const named = field ?? fieldPatterns.map((pattern) => pattern.exec(message)?.[1]).find(Boolean);
  if (named !== undefined) return contentField.test(named);
  return kind !== "invalid-setting" && !aboutSettings.test(message);
}
