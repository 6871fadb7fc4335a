import { importSession } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { goldenText, recordedNames } from "@moora/testbed/corpus/files";
import { describe, expect, it } from "vitest";
import { readSpans, type SessionSpan } from "../src/index.ts";

const nanosOf = ([seconds, nanos]: readonly [number, number]): number => seconds * 1e9 + nanos;

describe("the spans of the recorded session", () => {
  it.each(recordedNames())("%s form complete traces", async (name) => {
    const log = memoryLog();
    await importSession(log, goldenText(name), "ada");
    const spans: SessionSpan[] = [];
    for await (const span of readSpans(log, "ada", { unfinished: true })) spans.push(span);
    expect(spans.length).toBeGreaterThan(0);
    const ids = spans.map((span) => span.spanContext().spanId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const span of spans) {
      const parent = spans.find((other) => other.spanContext().spanId === span.parentSpanContext?.spanId);
      const operation = span.attributes["gen_ai.operation.name"];
      expect([parent?.attributes["gen_ai.operation.name"], span.name]).toEqual([
        operation === "invoke_agent" ? undefined : "invoke_agent",
        span.name,
      ]);
      if (parent !== undefined) {
        expect(parent.spanContext().traceId).toBe(span.spanContext().traceId);
        expect(nanosOf(parent.startTime)).toBeLessThanOrEqual(nanosOf(span.startTime));
        expect(nanosOf(parent.endTime)).toBeGreaterThanOrEqual(nanosOf(span.endTime));
      }
      expect(nanosOf(span.endTime)).toBeGreaterThanOrEqual(nanosOf(span.startTime));
    }
  });
});
