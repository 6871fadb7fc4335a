import { isObject, optionsProblem, shownValue, type OptionForms } from "@moora/agent-core-effects/internal";
import { HttpProblem } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import type { SessionAction, SessionRef, Grant, Authorize } from "./grant.ts";

/** The user of a server without `authorize`, which accepts requests to loopback addresses only. */
export const localUser = "local";

/** Calls `authorize`. Throws an `Error`, whatever it throws. */
async function authorizedBy(authorize: Authorize, request: Request): Promise<Grant | undefined> {
  try {
    return await authorize(request);
  } catch (error) {
    throw error instanceof Error
      ? error
      : new Error("authorize threw a value that is not an Error.", { cause: error });
  }
}

const right = {
  expectation: "a function (action, session) that returns whether the user may do it",
  fits: (value: unknown) => typeof value === "function",
};

const forms: OptionForms<Omit<Grant, "user">> = { may: right, mayForeign: right, mayReadMetrics: "boolean" };

/** Throws an `Error` for a grant of the wrong form: callers without types may return any value. */
function checkGrant(grant: unknown): void {
  if (!isObject(grant))
    throw new Error(`authorize must return { user } or undefined, got ${shownValue(grant)}.`);
  const { user, may, mayForeign, mayReadMetrics } = grant;
  if (typeof user !== "string" || user === "" || !user.isWellFormed())
    throw new Error("authorize must return { user } with a non-empty name, or undefined.");
  const problem = optionsProblem("authorize", { may, mayForeign, mayReadMetrics }, forms, {
    placeOf: (path) => `The ${path} that authorize returns`,
  });
  if (problem !== undefined) throw new Error(problem.message);
}

/** The rights of one request. */
export interface Access {
  readonly user: string;
  readonly mayReadMetrics: boolean;
  may(action: SessionAction, session: SessionRef): Promise<boolean>;
}

/** Authenticates a request. Throws `unauthorized`. */
export async function accessOf({ authorize }: ServerContext, request: Request): Promise<Access> {
  if (authorize === undefined) {
    return {
      user: localUser,
      mayReadMetrics: true,
      // Sessions without a user were created by programs that have the log itself.
      may: async (_action, { user }) => user === localUser || user === null,
    };
  }
  // What it reads of the body must not be missing later.
  const grant = await authorizedBy(
    authorize,
    new Request(request.url, { headers: request.headers, method: request.method }),
  );
  if (grant === undefined) {
    throw new HttpProblem("unauthorized", "Authentication is required.", {
      headers: { "www-authenticate": "Bearer" },
    });
  }
  checkGrant(grant);
  const { user, may = () => true, mayForeign = () => false, mayReadMetrics = false } = grant;
  return {
    user,
    mayReadMetrics,
    may: async (action, session) =>
      await (session.user === user ? may(action, session) : mayForeign(action, session)),
  };
}

/** What a user has rights for: a session, or the chat that it belongs to. */
type Thing = "session" | "chat";

/** What a user may not do, in the words of the `forbidden` error. */
const acts: Readonly<Record<SessionAction, (thing: Thing) => string>> = {
  create: (thing) => (thing === "session" ? "create a session" : "create this chat"),
  read: (thing) => `read this ${thing}`,
  post: (thing) => `post to this ${thing}`,
  decide: (thing) => (thing === "session" ? "decide this session" : "decide"),
  cancel: (thing) => `cancel this ${thing}`,
  update: (thing) => `update this ${thing}`,
  remove: (thing) => `remove this ${thing}`,
};

/** Throws `forbidden`, which names the right that a user does not have. */
export async function requireRight(
  access: Access,
  action: SessionAction,
  ref: SessionRef,
  thing: Thing = "session",
): Promise<void> {
  if (!(await access.may(action, ref))) throw forbidden(action, thing);
}

/** The error for a right that a user does not have. */
export const forbidden = (action: SessionAction, thing: Thing = "session"): HttpProblem =>
  new HttpProblem("forbidden", `You may not ${acts[action](thing)}.`);
