/** What a dialect takes as the id of a tool call, or as the name of a tool. */
export interface IdFormat {
  /** Matches the whole of what may be sent as it is. */
  readonly pattern: RegExp;
  /** How long an id is that had to be replaced; the pattern has to take that many letters and digits. */
  readonly length: number;
}

/** The strictest pattern that is common: `^[A-Za-z0-9_-]{1,64}$`. */
export const commonIdFormat: IdFormat = { pattern: /^[A-Za-z0-9_-]{1,64}$/, length: 24 };

/** Replaced ids begin with it; an id of the host's own that does so is replaced as well, so they never meet. */
const replacementPrefix = "x0";
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A hash of 32 bits over UTF-16 units: FNV-1a with a final mix. Spread is what counts, not secrecy. */
export function hash32(text: string, seed: number): number {
  let h = (0x811c9dc5 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** So many letters and digits that stand for a text; each hash gives five of them. */
function digest(text: string, length: number): string {
  let out = "";
  for (let seed = 1; out.length < length; seed += 1) {
    let h = hash32(text, Math.imul(seed, 0x9e3779b1));
    for (let i = 0; i < 5; i += 1, h = Math.floor(h / 62)) out += digits.charAt(h % 62);
  }
  return out.slice(0, length);
}

/**
 * The ids of one request in a dialect's pattern: equal ids give equal ones, distinct ids distinct ones. What an id
 * becomes does not depend on the others (but for two hashes that meet, where the later one gives way), so it stays when
 * messages are added.
 */
export function wireIds(format: IdFormat = commonIdFormat): (id: string) => string {
  return memoizedNaming(
    format,
    (id, salt) => replacementPrefix + digest(salt + id, format.length - replacementPrefix.length),
  );
}

/** The same for the names of tools: a replaced name keeps what can be read of it. */
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
