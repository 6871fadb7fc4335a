/**
 * Freezes plain data, and returns it. States and their elements are shared between versions: a write to one would change what the log
 * does not contain. What is frozen already is not visited, so that the cost depends on what is new.
 */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  if (Array.isArray(value)) for (const item of value) frozen(item);
  else for (const key in value) frozen(value[key]);
  return value;
}
