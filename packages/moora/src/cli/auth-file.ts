import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { nearest } from "@moora/agent-core-effects/internal";
import { textToJson } from "@moora/llm/internal";
import type { Authorize, Grant } from "@moora/server";
import * as z from "zod";
import { fileProblem } from "./session/use-file.ts";
import { usageError, type CliFailure } from "./cli-failure.ts";

/** The users of a server. */
export interface AuthFile {
  readonly authorize: Authorize;
  /** Their names, each once. */
  readonly users: readonly string[];
  /** The tokens that the file has as they are. No output may show them. */
  readonly secrets: readonly string[];
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

const text = (pattern: RegExp, expectation: string): z.ZodString =>
  z.string(expectation).regex(pattern, expectation);

const digestExpectation =
  "must be the SHA-256 of a token that is not empty, as 64 hexadecimal digits in lower case";

const fields = {
  user: text(/^\S(.*\S)?$/, "must be a name"),
  token: text(
    /^[\x21-\x7e]{16,}$/,
    "must be a text of at least 16 printable ASCII characters without spaces",
  ).optional(),
  tokenSha256: text(/^[0-9a-f]{64}$/, digestExpectation)
    // What `printf %s "$TOKEN" | sha256sum` prints where TOKEN is not set.
    .refine((digest) => digest !== sha256("").toString("hex"), digestExpectation)
    .optional(),
  mayReadMetrics: z.boolean("must be true or false").optional(),
};

/** The users and their tokens: as they are, or their digests. No message has a value of the file: it is secret. */
const authSchema = z.strictObject(
  {
    users: z
      .array(
        z
          .strictObject(fields, {
            error: (issue) =>
              issue.code === "unrecognized_keys" ? unknownFieldText(issue.keys) : "must be an object",
          })
          .refine((user) => (user.token === undefined) !== (user.tokenSha256 === undefined), {
            error: "must have either token or tokenSha256",
          }),
        "must be a list of users",
      )
      .min(1, "must be a list with at least one user"),
  },
  { error: "must be an object with a list of users, and no other field" },
);

/** A name that is close to that of a field is shown. Any other may be a secret in the wrong place. */
function unknownFieldText([name = ""]: readonly string[]): string {
  const meant = nearest(name, Object.keys(fields));
  if (meant !== undefined) return `has an unknown field "${name}". Did you mean "${meant}"?`;
  return `has an unknown field. Fields are ${Object.keys(fields).join(", ")}`;
}

/** A token, by its SHA-256: two of these have the same length, which comparing in constant time needs. */
interface KnownToken {
  readonly digest: Buffer;
  readonly grant: Grant;
}

/** Reads the file of `--auth`. Throws `CliFailure`, which contains no value of the file. */
export function readAuthFile(file: string, cwd: string): AuthFile {
  const source = textToJson(readText(file, cwd));
  if (source === undefined) throw invalid(`${file} is not valid JSON`);
  const { data, error } = authSchema.safeParse(source);
  if (data === undefined) throw invalid(issueText(file, error.issues[0]));
  const known = data.users.map(({ user, token, tokenSha256 = "", mayReadMetrics = false }): KnownToken => ({
    digest: token === undefined ? Buffer.from(tokenSha256, "hex") : sha256(token),
    grant: { user, mayReadMetrics },
  }));
  for (const [index, { digest }] of known.entries()) {
    const first = known.findIndex((other) => other.digest.equals(digest));
    if (first !== index) throw invalid(`users[${index}] of ${file} has the token of users[${first}]`);
  }
  return {
    authorize: (request) => grantOf(request, known),
    users: [...new Set(data.users.map(({ user }) => user))],
    secrets: data.users.flatMap(({ token }) => token ?? []),
  };
}

function issueText(file: string, issue: z.core.$ZodIssue | undefined): string {
  const { path = [], message = "" } = issue ?? {};
  const [users, index, field] = path.map(String);
  if (users === undefined) return `${file} ${message}`;
  return `users${index === undefined ? "" : `[${index}]`}${field === undefined ? "" : `.${field}`} of ${file} ${message}`;
}

function readText(file: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, file), "utf8");
  } catch (error) {
    const problem = fileProblem(error);
    if (problem === undefined) throw error;
    throw usageError(`The file ${file} ${problem}.`, "--auth needs a JSON file with users and tokens.");
  }
}

/** The grant of the token in the header of a request. It is compared with each known token, in constant time. */
function grantOf(request: Request, known: readonly KnownToken[]): Grant | undefined {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (token === undefined) return undefined;
  const digest = sha256(token);
  const [found] = known.filter((one) => timingSafeEqual(one.digest, digest));
  return found?.grant;
}

/** The error of a file in another form. */
const invalid = (problem: string): CliFailure =>
  usageError(
    /[.?]$/.test(problem) ? problem : `${problem}.`,
    'The form of the file is {"users":[{"user":NAME,"token":TOKEN}]}.',
  );
