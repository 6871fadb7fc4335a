/**
 * The value of an environment variable, trimmed. Undefined if it is unset or blank, and where there is no environment, as in a
 * browser.
 */
export function environmentVariable(name: string): string | undefined {
  const process: unknown = Reflect.get(globalThis, "process");
  const env = fieldOf(process, "env");
  const value = fieldOf(env, name);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
