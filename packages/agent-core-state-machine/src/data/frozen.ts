import type { Json } from "@moora/agent-webui-protocol";

/**
 * Freezes JSON, and returns it. Data is read by code of applications and shared between states: a write to it would change what
 * the log does not contain.
 */
export function frozen<Value extends Json>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const child of Object.values(value)) frozen(child);
  return value;
}
