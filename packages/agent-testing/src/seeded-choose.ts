import type { Choose } from "./choose.ts";

/** A source of choices from a seed. Equal seeds give equal choices on every engine. A 32-bit generator of the SplitMix family. */
export function seededChoose(seed: number): Choose {
  let state = seed | 0;
  return (count) => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    const bits = (mixed ^ (mixed >>> 15)) >>> 0;
    return Math.floor((bits / 2 ** 32) * Math.max(count, 1));
  };
}
