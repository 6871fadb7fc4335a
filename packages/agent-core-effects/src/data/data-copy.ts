import { jsonCopy } from "@moora/agent-core-state-machine/internal";
import type { Json } from "@moora/agent-core-state-machine";
import { DataRefused } from "./data-refused.ts";

/** A copy of a value that JSON keeps. `at` is its path in messages. Throws `DataRefused`. */
export function dataCopy(value: unknown, at: string): Json {
  const found = jsonCopy(value);
  if ("copy" in found) return found.copy;
  const { path, message } = found.problem;
  const where = at === "" || path === "" || path.startsWith("[") ? at + path : `${at}.${path}`;
  throw new DataRefused(where === "" ? message : `${where}: ${message}`);
}
