import { digestOf } from "@moora/event-log";
import type { Access } from "../access/authorization.ts";
import type { SessionRef } from "../access/grant.ts";
import { idempotencyKeyOf } from "./idempotency-key.ts";

/** A session to create: its agent, and what the request is about, for which its key counts. */
interface NewSession {
  readonly agent: string;
  readonly about: readonly [kind: "session" | "fork", ...ids: readonly string[]];
}

/** The session that a request creates for its user. Its id is that of each repetition with the same key, and cannot be guessed. */
export function newSessionRef(
  request: Request,
  { user }: Access,
  { agent, about: [kind, ...ids] }: NewSession,
): SessionRef {
  const key = idempotencyKeyOf(request);
  const id = key === undefined ? newSessionId() : `s_${digestOf(kind, user.toWellFormed(), ...ids, key)}`;
  return { id, agent, user };
}

/** An id with 144 random bits. */
export function newSessionId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  const text = btoa(String.fromCharCode(...bytes));
  return `s_${text.replaceAll("+", "-").replaceAll("/", "_")}`;
}
