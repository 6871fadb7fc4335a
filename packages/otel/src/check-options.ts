import {
  checkOptions,
  isObject,
  refuse,
  shownValue,
  withMethods,
  type OptionForm,
  type OptionForms,
} from "@moora/agent-core-effects/internal";
import type { ReadOptions } from "./read-spans.ts";
import type { AttachOptions, TelemetryOptions } from "./session-telemetry.ts";

const exporterForm = withMethods("an exporter", "export");

const spanContextForm: OptionForm = {
  expectation: "a span context, an object with traceId and spanId",
  fits: (value) =>
    isObject(value) && [value["traceId"], value["spanId"]].every((id) => typeof id === "string"),
};

const logOrNull: OptionForm = {
  expectation: "an event log or null",
  fits: (value) => value === null || (isObject(value) && typeof value["open"] === "function"),
};

const captureForm: OptionForm = {
  expectation: "true, false or a function",
  fits: (value) => typeof value === "boolean" || typeof value === "function",
};

const telemetryForms: OptionForms<TelemetryOptions> = {
  exporter: exporterForm,
  processor: withMethods("a span processor", "onEnd", "forceFlush"),
  resource: "object",
  meter: withMethods("a meter", "createHistogram", "createCounter"),
  positions: withMethods("a position store", "load", "save"),
  capture: captureForm,
  provider: "string",
  onError: "function",
  maxQueueSize: "positive",
  exportTimeoutMs: "positive",
  clock: "clock",
};

const attachForms: OptionForms<AttachOptions> = { agentName: "string", parent: spanContextForm };

const readForms: OptionForms<ReadOptions> = {
  agentName: "string",
  parent: spanContextForm,
  resource: "object",
  capture: captureForm,
  provider: "string",
  unfinished: "boolean",
  subAgents: logOrNull,
};

/** Throws `BuildError` for options of the wrong form. */
export function checkTelemetryOptions(options: TelemetryOptions): void {
  checkOptions("sessionTelemetry", options, telemetryForms);
  if (options.exporter !== undefined && options.processor !== undefined)
    refuse("sessionTelemetry takes an exporter or a processor, got both. Give one of them.");
}

/** Throws `BuildError` for options of the wrong form. */
export const checkReadOptions = (caller: string, options: ReadOptions): void =>
  checkOptions(caller, options, readForms);

/** Throws `BuildError` for a value that is not a session, and for options of the wrong form. */
export function checkAttachment(session: unknown, options: AttachOptions): void {
  checkArgument("attach", session, followedForm);
  checkOptions("attach", options, attachForms);
}

const followedForm = withMethods("a session", "current", "seq", "onInput");

/** Throws `BuildError` for a value that is not an exporter. */
export const checkExporter = (caller: string, exporter: unknown): void =>
  checkArgument(caller, exporter, exporterForm);

/** Throws `BuildError` for a value that is not the context of a tool call. */
export const checkToolContext = (caller: string, context: unknown): void =>
  checkArgument(caller, context, toolContextForm);

const toolContextForm: OptionForm = {
  expectation: "the context of a tool call",
  fits: (value) => isObject(value) && typeof value["idempotencyKey"] === "string",
};

function checkArgument(caller: string, value: unknown, { expectation, fits }: OptionForm): void {
  if (!fits(value)) refuse(`${caller} needs ${expectation}, got ${shownValue(value)}.`);
}
