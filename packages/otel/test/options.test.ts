import { BuildError, defineAgent, startSession, type Session } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { BatchSpanProcessor, InMemorySpanExporter } from "@opentelemetry/sdk-trace";
import { describe, expect, it } from "vitest";
import {
  exportSpans,
  readSpans,
  sessionTelemetry,
  toolSpanContext,
  type SessionTelemetry,
} from "../src/index.ts";

const sessionOf = (): Session => startSession(defineAgent({ llm: new MockLlmCaller(() => answers("Yes.")) }));

describe("options", () => {
  const exporter = new InMemorySpanExporter();

  it.each<[string, unknown, string]>([
    [
      "with two receivers",
      { exporter, processor: new BatchSpanProcessor({ exporter }) },
      "sessionTelemetry takes an exporter or a processor, got both. Give one of them.",
    ],
    ["that are missing", undefined, "sessionTelemetry needs an object of options, got undefined."],
    ["that are an exporter", [exporter], "sessionTelemetry needs an object of options, got an array."],
    ["with an empty queue", { maxQueueSize: 0 }, "maxQueueSize must be a positive number, got 0."],
    [
      "with an exporter that does not export",
      { exporter: {} },
      "exporter must be an exporter, an object with export(), got an object.",
    ],
    [
      "with an exporter as the processor",
      { processor: exporter },
      "processor must be a span processor, an object with onEnd() and forceFlush(), got an object.",
    ],
    [
      "with positions that cannot be stored",
      { positions: {} },
      "positions must be a position store, an object with load() and save(), got an object.",
    ],
    ["with a text as capture", { capture: "yes" }, 'capture must be true, false or a function, got "yes".'],
    [
      "with a meter provider as the meter",
      { meter: { getMeter: () => undefined } },
      "meter must be a meter, an object with createHistogram() and createCounter(), got an object.",
    ],
    [
      "with a clock without timers",
      { clock: { now: () => 0 } },
      "clock must be a clock, an object with now() and after(), got an object.",
    ],
  ])("%s are refused", (_, options, message) => {
    expect(() => sessionTelemetry(options as never)).toThrow(new BuildError(message));
  });

  it.each<[string, (telemetry: SessionTelemetry) => unknown, string]>([
    [
      "attach with a span as the parent",
      (telemetry) => telemetry.attach(sessionOf(), { parent: { spanContext: () => ({}) } } as never),
      "parent must be a span context, an object with traceId and spanId, got an object.",
    ],
    [
      "attach without a session",
      (telemetry) => telemetry.attach(undefined as never),
      "attach needs a session, an object with current(), seq() and onInput(), got undefined.",
    ],
    [
      "traced without an agent",
      (telemetry) => telemetry.traced({} as never),
      "traced needs an agent, got an object. Define it with defineAgent({ llm, ... }).",
    ],
    [
      "onSession without the context of the call",
      (telemetry) => telemetry.onSession(sessionOf(), undefined as never),
      "onSession needs the context of a tool call, got undefined.",
    ],
    [
      "toolSpanContext without the context of the call",
      () => toolSpanContext(undefined as never),
      "toolSpanContext needs the context of a tool call, got undefined.",
    ],
    [
      "exportSpans without an exporter",
      () => exportSpans(memoryLog(), "ada", undefined as never),
      "exportSpans needs an exporter, an object with export(), got undefined.",
    ],
    [
      "exportSpans with a misspelled name",
      () => exportSpans(memoryLog(), "ada", exporter, { unfinshed: true } as never),
      'Unknown option "unfinshed" of exportSpans. Did you mean "unfinished"?',
    ],
    [
      "readSpans with a log of sub-agents that is not one",
      () => readSpans(memoryLog(), "ada", { subAgents: true } as never).next(),
      "subAgents must be an event log or null, got true.",
    ],
  ])("of other functions are checked: %s", async (_, call, message) => {
    const telemetry = sessionTelemetry({ exporter });
    await expect(async () => await call(telemetry)).rejects.toThrow(new BuildError(message));
    await telemetry.close();
  });

  it("without an exporter leave the session as it is", async () => {
    const telemetry = sessionTelemetry({});
    const session = sessionOf();
    const detach = await telemetry.attach(session);
    expect((await session.ask("Up?")).text).toBe("Yes.");
    detach();
    await telemetry.close();
  });
});
