import { numberAt, textAt, type Field } from "./fields.ts";

/** Whether a text keeps to the limits that the schema of an argument sets. */
export function allowsText({ schema }: Field, text: string): boolean {
  const most = numberAt(schema, "maxLength") ?? Number.POSITIVE_INFINITY;
  const least = numberAt(schema, "minLength") ?? 0;
  return text.length >= least && text.length <= most && fitsPattern(textAt(schema, "pattern"), text);
}

/** Whether a number does. */
export function allowsNumber({ schema, type }: Field, value: number): boolean {
  const least = numberAt(schema, "minimum") ?? Number.NEGATIVE_INFINITY;
  const most = numberAt(schema, "maximum") ?? Number.POSITIVE_INFINITY;
  return value >= least && value <= most && (type !== "integer" || Number.isInteger(value));
}

/** A pattern that cannot be read is left to the tool to check. */
function fitsPattern(pattern: string, text: string): boolean {
  try {
    return pattern === "" || new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}
