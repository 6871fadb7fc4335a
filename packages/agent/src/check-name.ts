import { didYouMean, refuse, shownValue } from "@moora/agent-core-effects/internal";

/** Throws `BuildError`, with the nearest known name, for a name that is not known. */
export function checkName(name: string, known: readonly string[], place: string, what: string): void {
  if (known.includes(name)) return;
  refuse(`${place}: ${shownValue(name)} is not ${what}.${didYouMean(name, known)}`);
}
