/**
 * 16 hexadecimal digits that are equal for equal texts: two FNV-1a hashes of 32 bits over UTF-16 units, with a final mix.
 * It helps to distinguish results, and is not resistant to constructed collisions.
 */
export function textDigest(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x9e3779b1;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b);
  }
  return hex(a) + hex(b);
}

function hex(hash: number): string {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0).toString(16).padStart(8, "0");
}
