import { LogError } from "@moora/event-log";
import { describe, expect, it } from "vitest";
import { postgresLog } from "../src/index.ts";

/** A value as hosts without types give it. */
const untyped = (value: unknown) => JSON.parse(JSON.stringify(value ?? null)) ?? undefined;

describe("postgresLog refuses, with InvalidOption, before it connects", () => {
  it.each<[string, unknown, unknown, string]>([
    ["no source", undefined, {}, "needs a connection string or a pool of pg, got a value of type undefined."],
    ["an empty source", "", {}, "got an empty string."],
    ["an object that is not a pool", { host: "h" }, {}, "got a value of type object."],
    ["text as options", "postgres://h/d", "fast", 'postgresLog needs an object of options, got "fast".'],
    [
      "a time limit as text",
      "postgres://h/d",
      { busyTimeoutMs: "x" },
      "busyTimeoutMs of postgresLog must be a",
    ],
    [
      "text for a flag",
      "postgres://h/d",
      { notify: "no" },
      'notify of postgresLog must be true or false, got "no".',
    ],
    ["an invalid prefix", "postgres://h/d", { prefix: 'a"b' }, "A schema or prefix must have at most"],
  ])("%s", (_, source, options, message) => {
    const open = () => postgresLog(untyped(source), untyped(options));
    expect(open).toThrow(LogError);
    expect(open).toThrow(
      expect.objectContaining({ code: "InvalidOption", message: expect.stringContaining(message) }),
    );
  });
});
