/** The format that a provider requires for ids of tool calls, or for names of tools. */
export interface IdFormat {
  /** Matches every valid id as a whole. */
  readonly pattern: RegExp;
  /** The length of replacement ids. The pattern must match this many letters and digits. */
  readonly length: number;
}

/** The format that most providers accept: `^[A-Za-z0-9_-]{1,64}$`. */
export const commonIdFormat: IdFormat = { pattern: /^[A-Za-z0-9_-]{1,64}$/, length: 24 };

/** The prefix of replacement ids. Original ids with this prefix are replaced, too, so that they never collide. */
const replacementPrefix = "x0";
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A hash of 32 bits over UTF-16 units: FNV-1a with a final mix. It is not cryptographic. */
export function hash32(text: string, seed: number): number {
  let h = (0x811c9dc5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A digest of a text in letters and digits. Each hash contributes five of them. */
function digest(text: string, length: number): string {
  let out = "";
  for (let seed = 1; out.length < length; seed += 1) {
    let h = hash32(text, Math.imul(seed, 0x9e3779b1));
    for (let i = 0; i < 5; i += 1, h = Math.floor(h / 62)) out += digits.charAt(h % 62);
  }
  return out.slice(0, length);
}

/**
 * Returns a function that converts ids of tool calls to a format, for one request. Equal ids give equal ones, distinct ids
 * distinct ones. The result does not depend on other ids of the request, so it stays the same when messages are added;
 * only if two hashes collide, the later id gets another one.
 */
export function wireIds(format: IdFormat = commonIdFormat): (id: string) => string {
  return memoizedNaming(
    format,
    (id, salt) => replacementPrefix + digest(salt + id, format.length - replacementPrefix.length),
  );
}

/** The same for names of tools. A replacement contains the valid characters of the name. */
export function wireNames(format: IdFormat = commonIdFormat): (name: string) => string {
  const tail = 10;
  return memoizedNaming(format, (name, salt) => {
    const readable = name.replaceAll(/[^A-Za-z0-9_-]+/g, "_").slice(0, 40);
    return `${replacementPrefix}${digest(salt + name, tail)}_${readable}`;
  });
}

function memoizedNaming(
  format: IdFormat,
  replacement: (name: string, salt: string) => string,
): (name: string) => string {
  const assigned = new Map<string, string>();
  const used = new Set<string>();
  return (name) => {
    const known = assigned.get(name);
    if (known !== undefined) return known;
    let wire = name;
    if (name.startsWith(replacementPrefix) || !format.pattern.test(name)) {
      let salt = 0;
      do wire = replacement(name, salt === 0 ? "" : `${salt}\n`);
      while (used.has(wire) && ++salt > 0);
    }
    assigned.set(name, wire);
    used.add(wire);
    return wire;
  };
}
