import { digestOf } from "./digest.ts";

/** The fields of a session's header by which logs list sessions; null for a field that is missing or not a string. */
export interface HeaderFields {
  readonly user: string | null;
  readonly caller: string | null;
}

/** Reads the fields of a header. A header that is not a JSON object has none. */
export function headerToFields(header: string): HeaderFields {
  const { user, caller } = objectIn(header);
  return {
    user: typeof user === "string" ? user : null,
    caller: typeof caller === "string" ? caller : null,
  };
}

function objectIn(header: string): { readonly user?: unknown; readonly caller?: unknown } {
  try {
    const value: unknown = JSON.parse(header);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** The key of a user in the index of a database: of a fixed length, because a user may have any. */
export const userToKey = (user: string | null): string =>
  user === null ? "none" : digestOf(user.toWellFormed());

/** The longest key that each database can index. */
const maxCallerKeyLength = 1_000;

/**
 * The key of a caller, or of the beginning of one, in the index of a database. The key of a caller begins with that of each of its
 * beginnings. Two callers may have the same key. It consists of ASCII characters before `~`.
 */
export const callerToKey = (caller: string): string =>
  JSON.stringify(caller)
    .slice(1, -1)
    .replaceAll(/[^ -}]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .slice(0, maxCallerKeyLength);

/** The end of the keys that begin with a key. */
export const afterKeysOf = (key: string): string => `${key}~`;

/** The columns of a session's row by which a database lists it. */
export function headerToKeys(header: string): { readonly user: string; readonly caller: string | null } {
  const { user, caller } = headerToFields(header);
  return { user: userToKey(user), caller: caller === null ? null : callerToKey(caller) };
}
