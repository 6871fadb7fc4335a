import { redactedFailureOf, type FailureOf } from "./failure.ts";
import { defined, textToJson, type Json } from "./json.ts";
import type { LlmFailure, LlmFailureKind } from "./outcome.ts";
import { hostOf } from "./origin.ts";
import { retryAfterMs } from "./retry-after.ts";
import { statusToKind } from "./status-to-kind.ts";
import type { BrokenStream, RefusedResponse, StreamFault } from "./stream-fault.ts";
import { transportToFailure } from "./transport-to-failure.ts";
import { jsonToVendorError, type VendorError } from "./vendor-error.ts";
import { errorMessageToKind, commonErrorCodes } from "./error-codes.ts";

/** What an adapter knows about its provider's failures. */
export interface FailureContext {
  /** The host that was asked. */
  readonly host: string;
  /** What no message may show: keys, values of headers. */
  readonly secrets: readonly string[];
  /** Words of this provider, beside those that all use. */
  readonly errorCodes: Readonly<Record<string, LlmFailureKind>>;
  /** The body of an error event that the client threw, or undefined when the error is none. */
  readonly errorToBody: (error: unknown) => Json | undefined;
}

/** Every way in which a stream fails, as a failure of the port. */
// The compiler knows that the switch is exhaustive (noImplicitReturns), this rule does not.
// oxlint-disable-next-line typescript/consistent-return
export function faultToFailure(fault: StreamFault, context: FailureContext): LlmFailure {
  const fail = redactedFailureOf(context.secrets);
  switch (fault.type) {
    case "aborted":
      return fail("aborted", "The call was aborted.");
    case "silent":
      return fail("timeout", `${context.host} was silent for ${fault.afterMs} ms.`);
    case "cut":
      return fault.empty
        ? fail("empty", `${context.host} answered with nothing.`)
        : fail("interrupted", `${context.host} closed the stream before its last event.`);
    case "unreadable":
      return fail("malformed", `${context.host} sent an event that cannot be read.`);
    case "response":
      return responseToFailure(fault, context, fail);
    case "broken":
      return brokenToFailure(fault, context, fail);
  }
}

/** An error that stands in the body of an answer or of an event, as a failure of the port. */
export function errorToFailure(body: Json | undefined, context: FailureContext): LlmFailure {
  const fail = redactedFailureOf(context.secrets);
  const vendor = jsonToVendorError(body);
  return vendor
    ? vendorToFailure(vendor, undefined, context, fail)
    : fail("server", `${context.host} failed without saying why.`);
}

/** An error event that the client threw, or an error of the transport. */
function brokenToFailure(fault: BrokenStream, context: FailureContext, fail: FailureOf): LlmFailure {
  const vendor = jsonToVendorError(context.errorToBody(fault.error));
  return vendor
    ? vendorToFailure(vendor, undefined, context, fail)
    : transportToFailure(fault, context.host, fail);
}

/** An answer that is no event stream, whatever its status. */
function responseToFailure(response: RefusedResponse, context: FailureContext, fail: FailureOf): LlmFailure {
  const { status, headers } = response;
  if (status < 200 || (status >= 300 && status < 400)) return redirectToFailure(response, context, fail);
  const json = textToJson(response.body);
  const vendor = jsonToVendorError(json);
  if (vendor || status >= 400) {
    return vendorToFailure(vendor ?? { codes: [], message: excerpt(response.body) }, response, context, fail);
  }
  if (response.body.trim() === "") {
    return fail("empty", `${context.host} answered with nothing.`, { status });
  }
  const type = headers.get("content-type") ?? "no content type";
  const isBroken = type.includes("json") && json === undefined;
  return fail("malformed", `${context.host} answered with ${type} where an event stream was asked for.`, {
    status,
    retryable: isBroken,
  });
}

function redirectToFailure(response: RefusedResponse, context: FailureContext, fail: FailureOf): LlmFailure {
  const { status, headers } = response;
  const target = hostOf(headers.get("location") ?? "") || "another address";
  return fail(
    "invalid-request",
    `${context.host} redirects to ${target}, which is not followed. Set baseURL to the address that answers.`,
    { raw: "redirect", ...(status > 0 && { status }) },
  );
}

/** What the provider says itself; `response` is missing when it says so inside a stream. */
function vendorToFailure(
  vendor: VendorError,
  response: RefusedResponse | undefined,
  context: FailureContext,
  fail: FailureOf,
): LlmFailure {
  // A status of 200 says nothing about an error, one in the body may.
  const status = response && response.status >= 400 ? response.status : vendor.status;
  const kind = kindOf(vendor, status, context);
  const code = vendor.codes[0];
  const waits = response && retryAfterMs(response.headers, Date.now());
  const isFinal = response?.headers.get("x-should-retry") === "false";
  return fail(
    kind,
    [status, code, vendor.message].filter((part) => part !== undefined && part !== "").join(" "),
    {
      ...defined({ status: response?.status ?? status, raw: code, retryAfterMs: waits }),
      ...(isFinal && { retryable: false }),
    },
  );
}

/** The provider's words come first, since a status is often wrong about them; then the status. */
function kindOf(vendor: VendorError, status: number | undefined, context: FailureContext): LlmFailureKind {
  const errorCodes = { ...commonErrorCodes, ...context.errorCodes };
  const known = vendor.codes.find((code) => Object.hasOwn(errorCodes, code));
  const kind = known === undefined ? undefined : errorCodes[known];
  // A limit of tokens a minute is no limit of the context, unless one request alone is over it.
  const isTold = status !== 429 || /\brequest too large\b/i.test(vendor.message);
  const isVague = kind === undefined || kind === "invalid-request" || kind === "rate-limit";
  const told = isVague && isTold ? errorMessageToKind(vendor.message) : undefined;
  if (told !== undefined) return told;
  return kind ?? (status === undefined ? "server" : statusToKind(status));
}

/** A page of a proxy as one line without its markup. */
const excerpt = (body: string): string =>
  body
    .slice(0, 4000)
    .replaceAll(/<(script|style)\b.*?<\/\1>|<[^>]*>/gis, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, 300);
