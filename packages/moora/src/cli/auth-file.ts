import { createHash, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Authorize, Grant } from "@moora/server";
import { invalid, textToUsers, type AuthUser } from "./auth-users.ts";
import { fileProblem } from "./session/use-file.ts";
import { UsageError } from "./usage-error.ts";

/** The users of a server. */
export interface AuthFile {
  readonly authorize: Authorize;
  /** Their names, each once. */
  readonly users: readonly string[];
  /** The tokens that the file has as they are. No output may show them. */
  readonly secrets: readonly string[];
}

/** A token, by its SHA-256: two of these have the same length, which comparing in constant time needs. */
interface KnownToken {
  readonly digest: Buffer;
  readonly grant: Grant;
}

/** Reads the file of `--auth`. Throws `UsageError`, which contains no value of the file. */
export function readAuthFile(file: string, cwd: string): AuthFile {
  const users = textToUsers(readText(file, cwd), file);
  const known = users.map(toKnownToken);
  for (const [index, { digest }] of known.entries()) {
    const first = known.findIndex((other) => other.digest.equals(digest));
    if (first !== index) throw invalid(`users[${index}] of ${file} has the token of users[${first}]`);
  }
  return {
    authorize: (request) => grantOf(request, known),
    users: [...new Set(users.map(({ user }) => user))],
    secrets: users.flatMap(({ token }) => token ?? []),
  };
}

function readText(file: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, file), "utf8");
  } catch (error) {
    const problem = fileProblem(error);
    if (problem === undefined) throw error;
    throw new UsageError(`The file ${file} ${problem}.`, "--auth needs a JSON file with users and tokens.");
  }
}

const toKnownToken = ({ user, token, tokenSha256 = "", mayReadMetrics = false }: AuthUser): KnownToken => ({
  digest: token === undefined ? Buffer.from(tokenSha256, "hex") : digestOf(token),
  grant: { user, mayReadMetrics },
});

const digestOf = (token: string): Buffer => createHash("sha256").update(token).digest();

/** The grant of the token in the header of a request. It is compared with each known token, in constant time. */
function grantOf(request: Request, known: readonly KnownToken[]): Grant | undefined {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (token === undefined) return undefined;
  const digest = digestOf(token);
  const [found] = known.filter((one) => timingSafeEqual(one.digest, digest));
  return found?.grant;
}
