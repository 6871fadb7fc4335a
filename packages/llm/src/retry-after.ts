/** Reads a header by its name: a subset of the standard `Headers`. */
export interface HeaderLookup {
  get(name: string): string | null;
}

const seconds = /^\d+(\.\d+)?(e\d+)?$/i;
const httpDate = /^[a-z]{3,9},? /i;

/**
 * How long to wait before the next attempt, in milliseconds, by the headers of a response: `retry-after-ms`, or
 * `retry-after` in seconds or as an HTTP date. Undefined for a time in the past, a negative and an unreadable one; there is
 * no maximum.
 */
export function retryAfterMs(headers: HeaderLookup, nowMs: number): number | undefined {
  const milliseconds = headers.get("retry-after-ms")?.trim() ?? "";
  if (seconds.test(milliseconds)) return finite(Number(milliseconds));
  const after = headers.get("retry-after")?.trim() ?? "";
  if (seconds.test(after)) return finite(Number(after) * 1000);
  return httpDate.test(after) ? finite(Date.parse(after) - nowMs) : undefined;
}

const finite = (ms: number): number | undefined => (Number.isFinite(ms) && ms >= 0 ? ms : undefined);
