import { optionHint, refuse, shownValue } from "@moora/agent-core-effects/internal";

/** The names of all options; a row that is missing here does not compile. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/** Throws `BuildError` for a value that is not an object of options, and for an unknown option. */
export function checkOptionNames<Options extends object>(
  caller: string,
  options: Options,
  names: OptionNames<Options>,
): void {
  if (typeof options !== "object" || options === null)
    return refuse(`${caller} needs an object of options, got ${shownValue(options)}.`);
  const known = Object.keys(names);
  for (const name of Object.keys(options))
    if (!known.includes(name)) refuse(`Unknown option "${name}" of ${caller}.${optionHint(name, known)}`);
}

/** Throws `BuildError` for a number that is not a positive integer. Undefined is valid. */
export function checkCount(name: string, value: unknown): void {
  if (value !== undefined && (!Number.isSafeInteger(value) || Number(value) <= 0))
    refuse(`${name} must be a positive integer, got ${shownValue(value)}.`);
}
