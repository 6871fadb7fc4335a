import { optionHint, refuse, shownValue } from "@moora/agent-core-effects/internal";
import type { ReadOptions } from "./read-spans.ts";
import type { TelemetryOptions } from "./session-telemetry.ts";

type Form = "object" | "function" | "string" | "boolean" | "positive" | "any";

/** The form of each option: a row that is missing here does not compile. */
const telemetryForms: Readonly<Record<keyof TelemetryOptions, Form>> = {
  exporter: "object",
  processor: "object",
  resource: "object",
  meter: "object",
  positions: "object",
  capture: "any",
  provider: "string",
  onError: "function",
  maxQueueSize: "positive",
  exportTimeoutMs: "positive",
  clock: "object",
};

const readForms: Readonly<Record<keyof ReadOptions, Form>> = {
  agentName: "string",
  parent: "object",
  resource: "object",
  capture: "any",
  provider: "string",
  unfinished: "boolean",
  subAgents: "any",
};

/** Throws `BuildError` for options of the wrong form. */
export function checkTelemetryOptions(options: TelemetryOptions): void {
  checkForms("sessionTelemetry", options, telemetryForms);
  if (options.exporter !== undefined && options.processor !== undefined)
    refuse("sessionTelemetry takes an exporter or a processor, got both. Give one of them.");
}

/** Throws `BuildError` for options of the wrong form. */
export const checkReadOptions = (caller: string, options: ReadOptions): void =>
  checkForms(caller, options, readForms);

function checkForms(caller: string, options: object, forms: Readonly<Record<string, Form>>): void {
  for (const [name, value] of Object.entries(options)) {
    const form = Object.hasOwn(forms, name) ? forms[name] : undefined;
    if (form === undefined)
      refuse(`Unknown option "${name}" of ${caller}.${optionHint(name, Object.keys(forms))}`);
    else if (value !== undefined && !hasForm(value, form))
      refuse(`${name} must be ${formText[form]}, got ${shownValue(value)}.`);
  }
}

const formText: Readonly<Record<Form, string>> = {
  object: "an object",
  function: "a function",
  string: "a string",
  boolean: "a boolean",
  positive: "a positive number",
  any: "any value",
};

function hasForm(value: unknown, form: Form): boolean {
  switch (form) {
    case "any":
      return true;
    case "object":
      return typeof value === "object" && value !== null;
    case "positive":
      return typeof value === "number" && value > 0;
    case "function":
    case "string":
    case "boolean":
      return typeof value === form;
  }
}
