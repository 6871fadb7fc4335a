/** A JSON value as a literal of TypeScript, on one line. Fields that are undefined are left out. */
export function toLiteral(value: unknown): string {
  if (typeof value === "string") return toText(value);
  if (Array.isArray(value)) return `[${value.map(toLiteral).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return fields.length === 0
    ? "{}"
    : `{ ${fields.map(([key, field]) => `${toKey(key)}: ${toLiteral(field)}`).join(", ")} }`;
}

/** A key that would set the prototype is written as a computed one. */
function toKey(key: string): string {
  if (key === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}

/** In the quotes that need the fewest escapes. */
function toText(text: string): string {
  const quoted = JSON.stringify(text);
  return text.includes('"') && !text.includes("'")
    ? `'${quoted.slice(1, -1).replaceAll(String.raw`\"`, '"')}'`
    : quoted;
}
