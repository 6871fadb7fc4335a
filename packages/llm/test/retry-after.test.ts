import { describe, expect, it } from "vitest";
import { retryAfterMs } from "@moora/llm/adapter";

const now = Date.UTC(2030, 0, 1);
const read = (headers: Record<string, string>): number | undefined => retryAfterMs(new Headers(headers), now);

describe("Retry-After (F05)", () => {
  it.each([
    ["2", 2000],
    [" 2 ", 2000],
    ["0", 0],
    ["1.5", 1500],
    ["1e9", 1e12],
    ["Tue, 01 Jan 2030 00:01:00 GMT", 60_000],
    ["Tuesday, 01-Jan-30 00:00:01 GMT", 1000],
    ["Mon, 31 Dec 2029 23:59:59 GMT", undefined],
    ["-5", undefined],
    ["abc", undefined],
    ["", undefined],
    ["0x10", undefined],
    ["Infinity", undefined],
    ["1e999", undefined],
    ["2030-01-01T00:01:00Z", undefined],
  ])("%j is %j ms", (header, ms) => {
    expect(read({ "retry-after": header })).toBe(ms);
  });

  it("prefers the header in milliseconds", () => {
    expect(read({ "retry-after-ms": "1500", "retry-after": "9" })).toBe(1500);
    expect(read({ "retry-after-ms": "soon", "retry-after": "9" })).toBe(9000);
    expect(read({})).toBeUndefined();
  });
});
