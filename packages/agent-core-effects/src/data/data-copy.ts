import { jsonCopy, pathToText } from "@moora/agent-core-state-machine/internal";
import type { Json } from "@moora/agent-core-state-machine";
import { DataRefused } from "./data-refused.ts";

/** A copy of a value that JSON keeps. `at` is its path, for messages. Throws `DataRefused`. */
export function dataCopy(value: unknown, at: readonly PropertyKey[] = []): Json {
  const found = jsonCopy(value);
  if ("copy" in found) return found.copy;
  const { path, message } = found.problem;
  const before = pathToText(at);
  const where = before === "" || path === "" || path.startsWith("[") ? before + path : `${before}.${path}`;
  throw new DataRefused(where === "" ? message : `${where}: ${message}`);
}
