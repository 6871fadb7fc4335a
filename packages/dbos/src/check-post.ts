import type { AgentInput } from "@moora/agent";
import { checkOptions, refuse, shownValue, type OptionForms } from "@moora/agent-core-effects/internal";
import { parsePosted } from "@moora/agent/internal";
import type { DbosPostOptions } from "./dbos-options.ts";

const longestKey = 200;

/** PostgreSQL stores no NUL in texts, and has the ids of workflows in an index. */
const isKey = (value: unknown): boolean =>
  typeof value === "string" &&
  value.length > 0 &&
  value.length <= longestKey &&
  value.isWellFormed() &&
  !value.includes("\0");

const forms: OptionForms<DbosPostOptions> = {
  key: { expectation: `a well-formed string of 1 to ${longestKey} characters without NUL`, fits: isKey },
  user: "string",
};

/**
 * The input of a post. Throws `BuildError` for an invalid id or option, and `InputRefused` for an input that is invalid, or that only
 * the workflows of the session may dispatch.
 */
export function checkedPost(id: unknown, value: unknown, options: unknown): AgentInput {
  checkId(id);
  checkOptions("post", options, forms);
  return parsePosted(value, "workflows");
}

/** Throws `BuildError` for an id that is not a string. The log refuses those that it cannot store, with `InvalidId`. */
export function checkId(id: unknown): void {
  if (typeof id !== "string") refuse(`id must be a string, got ${shownValue(id)}.`);
}
