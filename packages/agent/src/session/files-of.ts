import { optionsProblem, shownValue, type OptionForms } from "@moora/agent-core-effects/internal";
import type { BlobStore } from "@moora/event-log";
import { isObject } from "../check-options.ts";
import { defaultMaxInlineBytes, SessionFiles, type BlobOptions } from "./session-files.ts";

const forms: OptionForms<BlobOptions> = {
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

/** Why the option `blobs` is invalid; undefined if it is valid. `own` is the log's own store. */
export function blobProblem(caller: string, blobs: unknown, own: BlobStore | undefined): string | undefined {
  if (blobs === undefined) return undefined;
  if (!isObject(blobs)) return `blobs must be an object { store, maxInlineBytes }, got ${shownValue(blobs)}.`;
  const problem = optionsProblem(caller, blobs, forms, (name) => `blobs.${name}`);
  if (problem !== undefined) return problem;
  return blobs["store"] === undefined && own === undefined
    ? "blobs.store is missing: this session has no log with a store of its own. Give a store with put and get."
    : undefined;
}

/** The files of a session; undefined if there is no store. Files that were stored earlier are always loaded. */
export function filesOf(
  blobs: BlobOptions | undefined,
  own: BlobStore | undefined,
): SessionFiles | undefined {
  const store = blobs?.store ?? own;
  if (store === undefined) return undefined;
  return new SessionFiles(
    store,
    blobs === undefined ? Infinity : (blobs.maxInlineBytes ?? defaultMaxInlineBytes),
  );
}
