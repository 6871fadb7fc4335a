import { numberAt, textAt, type Field } from "./fields.ts";

/** Whether a text is within the limits of the schema of an argument. */
export function allowsText({ schema }: Field, text: string): boolean {
  const most = numberAt(schema, "maxLength") ?? Number.POSITIVE_INFINITY;
  const least = numberAt(schema, "minLength") ?? 0;
  return text.length >= least && text.length <= most && fitsPattern(textAt(schema, "pattern"), text);
}

/** Whether a number is within the limits of the schema of an argument. */
export function allowsNumber({ schema, type }: Field, value: number): boolean {
  const least = numberAt(schema, "minimum") ?? Number.NEGATIVE_INFINITY;
  const most = numberAt(schema, "maximum") ?? Number.POSITIVE_INFINITY;
  return value >= least && value <= most && (type !== "integer" || Number.isInteger(value));
}

/** An invalid pattern is ignored: the tool checks it. */
function fitsPattern(pattern: string, text: string): boolean {
  try {
    return pattern === "" || new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}
