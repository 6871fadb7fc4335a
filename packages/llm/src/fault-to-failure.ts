import { redactedFailureOf, type FailureOf } from "./failure.ts";
import { defined, textToJson, type Json } from "./json.ts";
import type { LlmFailure } from "./outcome.ts";
import { hostOf } from "./origin.ts";
import { errorMeaning, type ErrorRows } from "./provider-errors.ts";
import { retryAfterMs } from "./retry-after.ts";
import type { BrokenStream, RefusedResponse, StreamFault } from "./stream-fault.ts";
import { jsonToVendorError, type VendorError } from "./vendor-error.ts";
import { rootCause } from "./root-cause.ts";

/** The context for converting a failed request to a failure of the port. */
export interface FailureContext {
  /** The host of the provider, for messages. */
  readonly host: string;
  /** The origin of the request, which a refusal of its content names. Default: the host. */
  readonly origin?: string | undefined;
  /** The texts that messages must not contain: keys, values of headers. */
  readonly secrets: readonly string[];
  /** The kinds of this provider's error codes, in addition to the common ones. */
  readonly errorCodes?: ErrorRows | undefined;
  /** The body of an error event that the provider's SDK threw as an error; undefined for any other error. */
  readonly errorToBody: (error: unknown) => Json | undefined;
}

/** Converts the fault of a stream to a failure of the port. */
// The compiler knows that the switch is exhaustive (noImplicitReturns), this rule does not.
// oxlint-disable-next-line typescript/consistent-return
export function faultToFailure(fault: StreamFault, context: FailureContext): LlmFailure {
  const fail = redactedFailureOf(context.secrets);
  switch (fault.type) {
    case "aborted":
      return fail("aborted", "The call was aborted.");
    case "silent":
      return fail("timeout", `${context.host} sent nothing for ${fault.afterMs} ms.`);
    case "without-content":
      return fail("timeout", `${context.host} sent no content for ${fault.afterMs} ms.`);
    case "too-long":
      return fail("timeout", `${context.host} had not completed the answer after ${fault.afterMs} ms.`);
    case "cut":
      return fault.empty
        ? fail("empty", `${context.host} sent an empty answer.`)
        : fail("interrupted", `${context.host} closed the stream before its last event.`);
    case "unreadable":
      return fail("malformed", `${context.host} sent an invalid event.`);
    case "response":
      return responseToFailure(fault, context, fail);
    case "broken":
      return brokenToFailure(fault, context, fail);
  }
}

/** Converts an error in the body of a response or of an event to a failure of the port. */
export function errorToFailure(body: Json | undefined, context: FailureContext): LlmFailure {
  const fail = redactedFailureOf(context.secrets);
  const vendor = jsonToVendorError(body);
  return vendor
    ? vendorToFailure(vendor, undefined, context, fail)
    : fail("server", `${context.host} sent no error message.`);
}

/** An error event that the SDK threw, or an error of the transport. */
function brokenToFailure(fault: BrokenStream, context: FailureContext, fail: FailureOf): LlmFailure {
  const vendor = jsonToVendorError(context.errorToBody(fault.error));
  return vendor
    ? vendorToFailure(vendor, undefined, context, fail)
    : transportToFailure(fault, context.host, fail);
}

/** A response that is not an event stream, of any status. */
function responseToFailure(response: RefusedResponse, context: FailureContext, fail: FailureOf): LlmFailure {
  const { status, headers } = response;
  if (status < 200 || (status >= 300 && status < 400)) return redirectToFailure(response, context, fail);
  const json = textToJson(response.body);
  const vendor = jsonToVendorError(json);
  if (vendor || status >= 400)
    return vendorToFailure(vendor ?? { codes: [], message: excerpt(response.body) }, response, context, fail);

  if (response.body.trim() === "") return fail("empty", `${context.host} sent an empty answer.`, { status });

  const type = headers.get("content-type") ?? "no content type";
  const isBroken = type.includes("json") && json === undefined;
  return fail("malformed", `${context.host} sent ${type} instead of an event stream.`, {
    status,
    retryable: isBroken,
  });
}

function redirectToFailure(response: RefusedResponse, context: FailureContext, fail: FailureOf): LlmFailure {
  const { status, headers } = response;
  const target = hostOf(headers.get("location") ?? "") || "another address";
  return fail(
    "invalid-request",
    `${context.host} redirects to ${target}, which is not followed. Set baseURL to the final URL.`,
    { raw: "redirect", ...(status > 0 && { status }) },
  );
}

/** An error that the provider reports itself. `response` is undefined for an error inside a stream. */
function vendorToFailure(
  vendor: VendorError,
  response: RefusedResponse | undefined,
  context: FailureContext,
  fail: FailureOf,
): LlmFailure {
  // An error with status 200 may have its own status in the body.
  const status = response && response.status >= 400 ? response.status : vendor.status;
  const { kind, refusesContent, advice, ...blame } = errorMeaning(vendor, status, context.errorCodes);
  const code = vendor.codes[0];
  const waitMs = (response && retryAfterMs(response.headers, Date.now())) ?? vendor.retryAfterMs;
  const isFinal = response?.headers.get("x-should-retry") === "false";
  return fail(
    kind,
    [status, code, vendor.message, advice].filter((part) => part !== undefined && part !== "").join(" "),
    {
      ...defined({ status: response?.status ?? status, raw: code, retryAfterMs: waitMs }),
      ...(isFinal && { retryable: false }),
      ...(refusesContent && { refusedBy: context.origin ?? context.host, ...blame }),
    },
  );
}

/** The text of a proxy's error page, without markup, in one line. */
const excerpt = (body: string): string =>
  body
    .slice(0, 4000)
    .replaceAll(/<(script|style)\b.*?<\/\1>|<[^>]*>/gis, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, 300);

const timeoutCodes = [
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "TimeoutError",
];

/** Whether the error concerns a certificate or the protocol: those are not retryable. */
const isTls = (code: string): boolean =>
  /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/.test(code);

/** Converts an error of the transport, or of the client before it sent the request, to a failure. */
function transportToFailure(fault: BrokenStream, host: string, fail: FailureOf): LlmFailure {
  const { message, code } = rootCause(fault.error);
  const raw = code === undefined ? {} : { raw: code };
  if (!fault.sent) return fail("invalid-request", `Invalid request: ${message}`, raw);
  if (code !== undefined && isTls(code)) {
    return fail("connection", `TLS connection to ${host} failed: ${message}`, {
      ...raw,
      retryable: false,
    });
  }
  if (code !== undefined && timeoutCodes.includes(code))
    return fail("timeout", `${host} did not respond in time: ${message}`, raw);

  return fault.answered
    ? fail("interrupted", `The stream from ${host} broke: ${message}`, raw)
    : fail("connection", `No response from ${host}: ${message}`, raw);
}
