/** Of the headers of an answer, what is needed here. */
export interface HeaderLookup {
  get(name: string): string | null;
}

const seconds = /^\d+(\.\d+)?(e\d+)?$/i;
const httpDate = /^[a-z]{3,9},? /i;

/**
 * How long a provider asks to wait, in milliseconds: `retry-after-ms`, or `retry-after` as seconds or as an HTTP date.
 * A time in the past, a negative one and anything unreadable is undefined; a huge one is kept as it is.
 */
export function retryAfterMs(headers: HeaderLookup, nowMs: number): number | undefined {
  const milliseconds = headers.get("retry-after-ms")?.trim() ?? "";
  if (seconds.test(milliseconds)) return finite(Number(milliseconds));
  const after = headers.get("retry-after")?.trim() ?? "";
  if (seconds.test(after)) return finite(Number(after) * 1000);
  return httpDate.test(after) ? finite(Date.parse(after) - nowMs) : undefined;
}

const finite = (ms: number): number | undefined => (Number.isFinite(ms) && ms >= 0 ? ms : undefined);
