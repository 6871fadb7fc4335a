import { endOfJsonString } from "./json.ts";

/** A number in a JSON text that no double is equal to, and what it would become. */
export interface LostNumber {
  readonly literal: string;
  /** Its keys and indices, such as `orders.0.id`; empty for the text itself. */
  readonly path: string;
  readonly becomes: string;
}

/** A literal with at most 15 digits and no exponent is always kept. */
const mayBeLost = /[\d.]{16}|\d[eE]/;
const numberAt = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The first number in a valid JSON text that `JSON.parse` would silently replace by another one. */
export function lostNumber(text: string): LostNumber | undefined {
  if (!mayBeLost.test(text)) return undefined;
  const path: (string | number)[] = [];
  for (let offset = 0; offset < text.length; offset += 1) {
    const character = text[offset] ?? "";
    const place = path.at(-1);
    if (character === "{") path.push("");
    else if (character === "[") path.push(0);
    else if (character === "}" || character === "]") path.pop();
    else if (character === "," && typeof place === "number") path[path.length - 1] = place + 1;
    else if (character === '"') {
      const end = endOfJsonString(text, offset);
      // In an object, the text before a number is its key.
      if (typeof place === "string") path[path.length - 1] = String(JSON.parse(text.slice(offset, end)));
      offset = end - 1;
    } else if (/[-\d]/.test(character)) {
      numberAt.lastIndex = offset;
      const literal = numberAt.exec(text)?.[0] ?? character;
      const becomes = String(Number(literal));
      if (decimalOf(literal) !== decimalOf(becomes)) return { literal, path: path.join("."), becomes };
      offset += literal.length - 1;
    }
  }
  return undefined;
}

/** The message about such a number, with what to send instead. */
export const lostNumberText = ({ literal, path, becomes }: LostNumber): string =>
  `The number ${literal}${path === "" ? "" : ` at ${path}`} cannot be kept: it would become ${becomes}. Send it as a string.`;

/** Equal for two literals of one number: its digits without zeros at either end, and the power of ten of the last one. */
function decimalOf(literal: string): string {
  const [mantissa = "", exponent = "0"] = literal
    .replace(/^-/, "")
    .toLowerCase()
    .split(/e(?=[+\d-])/);
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
