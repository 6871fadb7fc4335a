import { defineAgent, startSession, type Session } from "@moora/agent";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { TestClock, turn } from "@moora/testbed/test-clock";
import { BatchSpanProcessor, InMemorySpanExporter, type ReadableSpan } from "@opentelemetry/sdk-trace";
import {
  BatchSpanProcessor as OlderProcessor,
  InMemorySpanExporter as OlderExporter,
  type ReadableSpan as OlderSpan,
} from "@opentelemetry/sdk-trace-base";
import { describe, expect, expectTypeOf, it } from "vitest";
import { sessionTelemetry, type SessionSpan, type SpanExporterLike } from "../src/index.ts";

const say = (): ReturnType<typeof answers> => answers("Yes.");
const sessionOf = (id = "ada"): Session => startSession(defineAgent({ llm: new MockLlmCaller(say) }), { id });

type Result = { code: number; error?: Error };

/** An exporter that answers on command. */
class HeldExporter implements SpanExporterLike {
  readonly batches: (readonly SessionSpan[])[] = [];
  #answer: ((result: Result) => void) | undefined;

  export(spans: SessionSpan[], resultCallback: (result: Result) => void): void {
    this.batches.push(spans);
    this.#answer = resultCallback;
  }

  answer(result: Result): void {
    this.#answer?.(result);
  }
}

describe("an exporter", () => {
  it("gets the spans that end while it exports in one batch", async () => {
    const exporter = new HeldExporter();
    const telemetry = sessionTelemetry({ exporter });
    const session = sessionOf();
    await telemetry.attach(session);
    await session.ask("1?");
    await turn();
    await session.ask("2?");
    await session.ask("3?");
    await turn();
    expect(exporter.batches.map((batch) => batch.length)).toEqual([2]);
    exporter.answer({ code: 0 });
    await turn();
    expect(exporter.batches.map((batch) => batch.length)).toEqual([2, 4]);
  });

  it.each([
    [
      "fails",
      (_: unknown, done: (result: Result) => void) => done({ code: 1, error: new Error("No route.") }),
      "No route.",
    ],
    [
      "fails without a reason",
      (_: unknown, done: (result: Result) => void) => done({ code: 1 }),
      "failed with code 1",
    ],
    [
      "throws",
      () => {
        throw new Error("No exporter.");
      },
      "No exporter.",
    ],
  ] as const)("that %s is reported once, and the session continues", async (_, fail, message) => {
    const errors: unknown[] = [];
    const clock = new TestClock();
    const telemetry = sessionTelemetry({
      exporter: { export: fail },
      clock,
      onError: (error) => errors.push(error),
    });
    const session = sessionOf();
    await telemetry.attach(session);
    for (let count = 0; count < 4; count += 1) {
      expect((await session.ask("Still there?")).text).toBe("Yes.");
      await turn();
      await clock.advanceAsync(5_000);
    }
    await telemetry.flush();
    expect(errors.map(String)).toEqual([expect.stringContaining(message)]);
  });

  it("that fails for a while gets the same spans again", async () => {
    const exported = new InMemorySpanExporter();
    let failures = 2;
    const clock = new TestClock();
    const errors: unknown[] = [];
    const telemetry = sessionTelemetry({
      clock,
      onError: (error) => errors.push(error),
      exporter: {
        export(spans, done) {
          if ((failures -= 1) >= 0) done({ code: 1 });
          else exported.export(spans, done);
        },
      },
    });
    const session = sessionOf();
    await telemetry.attach(session);
    await session.ask("Up?");
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await clock.whenWaiting(1);
      await clock.advanceAsync(5_000);
    }
    await turn();
    expect(exported.getFinishedSpans().map(({ name }) => name)).toEqual(["chat", "invoke_agent agent"]);
    expect(errors).toHaveLength(1);
  });

  it("that hangs is given up after a timeout, and a bounded number of spans waits", async () => {
    const errors: unknown[] = [];
    const clock = new TestClock();
    const exporter = new HeldExporter();
    const telemetry = sessionTelemetry({
      exporter,
      clock,
      maxQueueSize: 3,
      exportTimeoutMs: 1_000,
      onError: (error) => errors.push(error),
    });
    const session = sessionOf();
    await telemetry.attach(session);
    for (let count = 0; count < 10; count += 1) await session.ask("Still there?");
    await turn();
    expect(exporter.batches.map((batch) => batch.length)).toEqual([2]);
    await clock.advanceAsync(1_000);
    await clock.advanceAsync(5_000);
    expect(exporter.batches.map((batch) => batch.length)).toEqual([2, 3]);
    expect(errors.map(String)).toEqual([expect.stringContaining("3 spans wait for the exporter")]);
  });

  it("that hangs does not hold up flush for longer than the timeout", async () => {
    const errors: unknown[] = [];
    const clock = new TestClock();
    const telemetry = sessionTelemetry({
      exporter: { export: () => undefined, forceFlush: () => new Promise(() => undefined) },
      clock,
      exportTimeoutMs: 1_000,
      onError: (error) => errors.push(error),
    });
    const session = sessionOf();
    await telemetry.attach(session);
    await session.ask("Up?");
    const flushed = telemetry.flush();
    await turn();
    await clock.advanceAsync(1_000);
    await flushed;
    expect(errors.map(String)).toEqual([expect.stringContaining("did not answer within 1000 ms")]);
  });

  it("may fail together with the listener of errors", async () => {
    const telemetry = sessionTelemetry({
      clock: new TestClock(),
      exporter: { export: (_, done) => done({ code: 1 }) },
      onError() {
        throw new Error("The listener fails, too.");
      },
    });
    const session = sessionOf();
    await telemetry.attach(session);
    expect((await session.ask("Up?")).text).toBe("Yes.");
    await telemetry.flush();
  });
});

describe("a processor", () => {
  it("of the SDK 3 gets each span", async () => {
    const exporter = new InMemorySpanExporter();
    const telemetry = sessionTelemetry({ processor: new BatchSpanProcessor({ exporter }) });
    const session = sessionOf();
    await telemetry.attach(session);
    await session.ask("Up?");
    await telemetry.flush();
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(["chat", "invoke_agent agent"]);
  });

  it("of the SDK 2 gets each span, as its exporter does", async () => {
    const exporter = new OlderExporter();
    const telemetries = [
      sessionTelemetry({ processor: new OlderProcessor(exporter) }),
      sessionTelemetry({ exporter }),
    ];
    for (const telemetry of telemetries) {
      const session = sessionOf();
      await telemetry.attach(session);
      await session.ask("Up?");
      await telemetry.flush();
    }
    const names = ["chat", "invoke_agent agent"];
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual([...names, ...names]);
  });
});

describe("a span", () => {
  it("has the type of the SDK 3, and of the SDK 2", () => {
    expectTypeOf<SessionSpan>().toExtend<ReadableSpan>();
    expectTypeOf<SessionSpan>().toExtend<OlderSpan>();
  });
});
