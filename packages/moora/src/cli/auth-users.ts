import { createHash } from "node:crypto";
import { isObject, nearest } from "@moora/agent-core-effects/internal";
import { UsageError } from "./usage-error.ts";

/** A user in the file of `--auth`, with one token: as it is, or its digest. */
export interface AuthUser {
  readonly user: string;
  readonly token?: string;
  readonly tokenSha256?: string;
  readonly mayReadMetrics?: boolean;
}

/** What a field must be, and whether a value is. */
interface Field {
  readonly expectation: string;
  readonly fits: (value: unknown) => boolean;
}

const text = (pattern: RegExp, expectation: string): Field => ({
  expectation,
  fits: (value) => typeof value === "string" && pattern.test(value),
});

/** What `printf %s "$TOKEN" | sha256sum` prints where TOKEN is not set. */
const digestOfNothing = createHash("sha256").update("").digest("hex");

const fields: Readonly<Record<keyof AuthUser, Field>> = {
  user: text(/^\S(.*\S)?$/, "must be a name"),
  token: text(
    /^[\x21-\x7e]{16,}$/,
    "must be a text of at least 16 printable ASCII characters without spaces",
  ),
  tokenSha256: {
    expectation: "must be the SHA-256 of a token that is not empty, as 64 hexadecimal digits in lower case",
    fits: (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value) && value !== digestOfNothing,
  },
  mayReadMetrics: { expectation: "must be true or false", fits: (value) => typeof value === "boolean" },
};

/**
 * The users of the file of `--auth`. Throws `UsageError`, whose message has the places of fields and none of their values: the file is
 * secret.
 */
export function textToUsers(source: string, file: string): readonly AuthUser[] {
  const value = textToJson(source, file);
  const users = isObject(value) ? value["users"] : undefined;
  if (!Array.isArray(users)) throw invalid(`${file} must be an object with a list of users`);
  if (users.length === 0) throw invalid(`The list of users in ${file} is empty`);
  const unknown = Object.keys(Object(value)).length > 1;
  if (unknown) throw invalid(`${file} must have no other field than users`);
  return users.map((user: unknown, index) => {
    const problem = userProblem(user);
    if (problem !== undefined) throw invalid(`users[${index}]${problem(file)}`);
    // Its fields were checked.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return user as AuthUser;
  });
}

function textToJson(source: string, file: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    // The message of the error repeats a part of the text.
    throw invalid(`${file} is not valid JSON`);
  }
}

/** What is wrong with a user, for the name of the file; undefined if nothing is. */
function userProblem(user: unknown): ((file: string) => string) | undefined {
  if (!isObject(user)) return (file) => ` of ${file} must be an object`;
  const unknown = Object.keys(user).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) return (file) => unknownFieldProblem(unknown, file);
  for (const [name, { expectation, fits }] of Object.entries(fields)) {
    const value = user[name];
    const isMissing = value === undefined && name !== "user";
    if (!isMissing && !fits(value)) return (file) => `.${name} of ${file} ${expectation}`;
  }
  const hasBothOrNone = (user["token"] === undefined) === (user["tokenSha256"] === undefined);
  return hasBothOrNone ? (file) => ` of ${file} must have either token or tokenSha256` : undefined;
}

/** A name that is close to that of a field is shown. Any other may be a secret in the wrong place. */
function unknownFieldProblem(name: string, file: string): string {
  const meant = nearest(name, Object.keys(fields));
  if (meant !== undefined) return ` of ${file} has an unknown field "${name}". Did you mean "${meant}"?`;
  return ` of ${file} has an unknown field. Fields are ${Object.keys(fields).join(", ")}`;
}

/** The error of a file in another form. */
export const invalid = (problem: string): UsageError =>
  new UsageError(
    /[.?]$/.test(problem) ? problem : `${problem}.`,
    'The form of the file is {"users":[{"user":NAME,"token":TOKEN}]}.',
  );
