import type { FailureOf } from "./failure.ts";
import type { LlmFailure } from "./outcome.ts";
import { rootCause } from "./root-cause.ts";
import type { BrokenStream } from "./stream-fault.ts";

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
export function transportToFailure(fault: BrokenStream, host: string, fail: FailureOf): LlmFailure {
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
