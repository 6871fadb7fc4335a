import {
  isObject,
  refuse,
  shownValue,
  withMethods,
  type OptionForm,
} from "@moora/agent-core-effects/internal";

/** An exporter, as an option. */
export const exporterForm: OptionForm = withMethods("an exporter", "export");

/** A span context, as an option. */
export const spanContextForm: OptionForm = {
  expectation: "a span context, an object with traceId and spanId",
  fits: (value) =>
    isObject(value) && [value["traceId"], value["spanId"]].every((id) => typeof id === "string"),
};

/** What spans contain of what was said, as an option. */
export const captureForm: OptionForm = {
  expectation: "true, false or a function",
  fits: (value) => typeof value === "boolean" || typeof value === "function",
};

/** The context of a tool call, as an argument. */
export const toolContextForm: OptionForm = {
  expectation: "the context of a tool call",
  fits: (value) => isObject(value) && typeof value["idempotencyKey"] === "string",
};

/** Throws `BuildError` for an argument of another form. */
export function checkArgument(caller: string, value: unknown, { expectation, fits }: OptionForm): void {
  if (!fits(value)) refuse(`${caller} needs ${expectation}, got ${shownValue(value)}.`);
}
