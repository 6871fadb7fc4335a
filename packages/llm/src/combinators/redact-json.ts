import { redactor, secretMark } from "../failure-text.ts";

/** Keys of well-known providers, tokens and private keys. A key of random characters has a digit; a name of a program may have none. */
export const knownKeys: RegExp =
  /\b(?:sk|rk|pk|gsk|xai|hf|gh[opsu]|github_pat|glpat|xox[abeprs])[-_](?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{16,}|\bAIza[A-Za-z0-9_-]{30,}|\bA[KS]IA[A-Z0-9]{16}\b|\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?/g;

/** Credentials of HTTP. In texts of people these are words. */
const credentials = /(?<=\b(?:Bearer|Basic) )[A-Za-z0-9+/._~-]{8,}=*/g;

/** Copies a value of JSON with every secret in its texts replaced by `[secret]`: the given ones, and those of known formats. */
export function redactJson<Value>(value: Value, secrets: readonly string[]): Value {
  const redact = redactor(secrets);
  return mapTexts(value, (text) =>
    redact(text).replaceAll(knownKeys, secretMark).replaceAll(credentials, secretMark),
  );
}

/**
 * A copy of a value of JSON with each of its texts changed. An error stays the same object: its fields and its causes are changed in
 * place. Other objects are not looked into.
 */
export function mapTexts<Value>(value: Value, change: (text: string) => string): Value {
  /** The copies of what was met before: causes may be circular. */
  const copies = new Map<unknown, unknown>();
  const copyOf = (item: unknown): unknown => {
    if (typeof item === "string") return change(item);
    if (typeof item !== "object" || item === null || copies.has(item)) return copies.get(item) ?? item;
    copies.set(item, item);
    if (item instanceof Error) {
      for (const name of Object.getOwnPropertyNames(item))
        Reflect.set(item, name, copyOf(Reflect.get(item, name)));
    }
    if (Array.isArray(item)) copies.set(item, item.map(copyOf));
    if (Object.getPrototypeOf(item) === Object.prototype)
      copies.set(item, Object.fromEntries(Object.entries(item).map(([key, field]) => [key, copyOf(field)])));
    return copies.get(item);
  };
  // The value keeps its shape: only the characters of its strings may change.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return copyOf(value) as Value;
}
