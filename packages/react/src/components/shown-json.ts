import { escapeHiddenCharacters } from "@moora/agent";

/** How deep a value may be nested to be shown with indents: those of the lines of a deeper one could be a thousand times its text. */
const deepestIndent = 20;

/** A value as JSON for a person, who would not see hidden characters. */
export const shownJson = (value: unknown): string =>
  escapeHiddenCharacters(JSON.stringify(value, null, isDeeperThan(deepestIndent, value) ? 0 : 2));

const isDeeperThan = (depth: number, value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (depth === 0 || Object.values(value).some((inner) => isDeeperThan(depth - 1, inner)));
