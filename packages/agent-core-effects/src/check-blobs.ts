import { isObject, optionsProblem, shownValue, withMethods, type OptionForms } from "@moora/llm/internal";

const forms: OptionForms<{ readonly store: unknown; readonly maxInlineBytes: unknown }> = {
  store: { ...withMethods("a store", "put", "get"), expectation: "a store of bytes with put and get" },
  maxInlineBytes: {
    expectation: "an integer from 0",
    fits: (value) => value === Infinity || (Number.isSafeInteger(value) && Number(value) >= 0),
  },
};

/** Why the option `blobs` of a session is invalid; undefined if it is valid. `own` is the store of its log, if it has one. */
export function blobProblem(caller: string, blobs: unknown, own: unknown): string | undefined {
  if (blobs === undefined) return undefined;
  if (!isObject(blobs)) return `blobs must be an object { store, maxInlineBytes }, got ${shownValue(blobs)}.`;
  const problem = optionsProblem(`blobs of ${caller}`, blobs, forms, { placeOf: (path) => `blobs.${path}` });
  if (problem !== undefined) return problem.message;
  return blobs["store"] === undefined && own === undefined
    ? "blobs.store is missing: this session has no log with a store of its own. Give a store with put and get."
    : undefined;
}
