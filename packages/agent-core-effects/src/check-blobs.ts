import { isObject, optionsProblem, type OptionForms } from "./check-options.ts";
import { shownValue } from "./field-problem.ts";

const forms: OptionForms<{ readonly store: unknown; readonly maxInlineBytes: unknown }> = {
  store: {
    expectation: "a store of bytes with put and get",
    fits: (value) =>
      isObject(value) && typeof value["put"] === "function" && typeof value["get"] === "function",
  },
  maxInlineBytes: {
    expectation: "an integer from 0",
    fits: (value) => value === Infinity || (Number.isSafeInteger(value) && Number(value) >= 0),
  },
};

/** Why the option `blobs` of a session is invalid; undefined if it is valid. `own` is the store of its log, if it has one. */
export function blobProblem(caller: string, blobs: unknown, own: unknown): string | undefined {
  if (blobs === undefined) return undefined;
  if (!isObject(blobs)) return `blobs must be an object { store, maxInlineBytes }, got ${shownValue(blobs)}.`;
  const problem = optionsProblem(`blobs of ${caller}`, blobs, forms, (name) => `blobs.${name}`);
  if (problem !== undefined) return problem;
  return blobs["store"] === undefined && own === undefined
    ? "blobs.store is missing: this session has no log with a store of its own. Give a store with put and get."
    : undefined;
}
