import type { HrTime } from "@opentelemetry/api";

/** The latest time that a `Date` can represent, in milliseconds since 1970. */
const maxTime = 8_640_000_000_000_000;

/** Converts milliseconds since 1970, or a duration in milliseconds, to seconds and nanoseconds. Clamped to 0 and to the latest `Date`. */
export function msToHrTime(ms: number): HrTime {
  const time = Math.min(Math.max(ms, 0), maxTime);
  const seconds = Math.floor(time / 1_000);
  return [seconds, Math.round((time - seconds * 1_000) * 1_000) * 1_000];
}
