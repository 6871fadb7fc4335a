import type { LlmFailureKind } from "./outcome.ts";
import type { VendorError } from "./vendor-error.ts";

/** The fields of a request that contain the conversation; `url` and those of files are inside it. */
const contentField = /^(messages|input|system|instructions|contents?|prompt|url|image|file|document)/;

/** Codes of invalid requests that are not about the conversation. */
const settingCode =
  /^(model_not_found|not_found_error|NOT_FOUND|FAILED_PRECONDITION|data_residency_mismatch|(unsupported|unknown|missing_required)_parameter|unsupported_value|invalid_function_parameters|AI_NoSuchModelError|AI_InvalidArgumentError)$/;

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

/** What messages say of files. */
export const aboutFiles: RegExp = /\b(images?|files?|pdf|documents?|media|mime|download|audio|video|url)\b/i;

/** Whether a provider refused a request for what its messages contain. Where that is not clear, it did. */
export function refusesContent(
  kind: LlmFailureKind,
  { codes, message, field }: VendorError,
  status: number | undefined,
): boolean {
  if (kind !== "invalid-request") return kind === "context-length";
  if (aboutFileTypes.test(message)) return true;
  if (status !== undefined && status !== 400 && status !== 413 && status !== 415 && status !== 422)
    return false;
  if (field === undefined && aboutMessages.test(message)) return true;
  const named = field ?? fieldPatterns.map((pattern) => pattern.exec(message)?.[1]).find(Boolean);
  if (named !== undefined) return contentField.test(named);
  return !codes.some((code) => settingCode.test(code)) && !aboutSettings.test(message);
}
