const format = new Intl.RelativeTimeFormat("en-US", { numeric: "auto" });

/** The units from the longest on, with their lengths in milliseconds. */
const units = [
  ["year", 365 * 86_400_000],
  ["month", 30 * 86_400_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** How long ago a time was, as `5 minutes ago`; both times are in milliseconds since 1970. A clock may be ahead: `in 5 minutes`. */
export function relativeTime(timestamp: number, now: number): string {
  const ms = timestamp - now;
  if (!Number.isFinite(ms)) return String(timestamp);
  const [unit, length] = units.find((each) => Math.abs(ms) >= each[1]) ?? ["second", 1_000];
  return format.format(Math.trunc(ms / length), unit);
}
