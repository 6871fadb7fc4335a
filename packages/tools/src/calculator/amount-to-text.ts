import { toNumber, type Amount } from "./amount.ts";

/** A number in decimal notation. `isRounded`: digits were omitted, so it is printed after "≈" instead of "=". */
export interface AmountText {
  readonly text: string;
  readonly isRounded: boolean;
}

/** The maximum number of decimals, and of digits, in the output. */
const maxDecimals = 20;
const maxDigits = 200;

export function amountToText(amount: Amount): AmountText {
  const written = amount.exact ? decimalOf(amount.top, amount.bottom) : undefined;
  if (written !== undefined) return { text: written, isRounded: false };
  return { text: String(Number(toNumber(amount).toPrecision(15))), isRounded: true };
}

/** The fraction as a decimal. Undefined if it has too many decimals. */
function decimalOf(top: bigint, bottom: bigint): string | undefined {
  for (let decimals = 0; decimals <= maxDecimals; decimals += 1) {
    const scaled = top * 10n ** BigInt(decimals);
    if (scaled % bottom !== 0n) continue;
    const digits = (scaled < 0n ? -scaled : scaled) / bottom;
    const text = digits.toString().padStart(decimals + 1, "0");
    if (text.length > maxDigits) return undefined;
    const sign = top < 0n ? "-" : "";
    const point = text.length - decimals;
    return decimals === 0 ? sign + text : `${sign}${text.slice(0, point)}.${text.slice(point)}`;
  }
  return undefined;
}
