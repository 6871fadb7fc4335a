import type { SessionSpan } from "./session-span.ts";

/** An exporter, such as `OTLPTraceExporter`. Its `SpanExporter` type of the OpenTelemetry SDK 2 and 3 fits. */
export interface SpanExporterLike {
  export(spans: SessionSpan[], resultCallback: (result: { code: number; error?: Error }) => void): void;
  forceFlush?(): Promise<void>;
}

/** A processor, such as `BatchSpanProcessor`. The `SpanProcessor` type of the OpenTelemetry SDK 2 and 3 fits. */
export interface SpanProcessorLike {
  onEnd(span: SessionSpan): void;
  forceFlush(): Promise<void>;
}

/** Where spans go. Both reject when spans could not be exported. */
export interface Sink {
  send(spans: readonly SessionSpan[]): Promise<void>;
  flush(): Promise<void>;
}

/** Sends spans with an exporter. */
export const exporterSink = (exporter: SpanExporterLike): Sink => ({
  send: (spans) =>
    new Promise((resolve, reject) => {
      exporter.export([...spans], ({ code, error }) => {
        if (code === 0) resolve();
        else reject(error ?? new Error(`The exporter failed with code ${code}.`));
      });
    }),
  flush: async () => await exporter.forceFlush?.(),
});

/** Hands spans to a processor. `isFlushed`: waits until the processor has exported them. */
export const processorSink = (processor: SpanProcessorLike, isFlushed: boolean): Sink => ({
  async send(spans) {
    for (const span of spans) processor.onEnd(span);
    if (isFlushed) await processor.forceFlush();
  },
  flush: () => processor.forceFlush(),
});
