import { isObject } from "@moora/agent-core-effects/internal";
import { digestOf } from "@moora/event-log";
import type { ViewedSession } from "./live-texts.ts";

/**
 * What servers with viewers and processes with effects send to all. `view` and `leave` are those of a server, whose own topic is
 * `server`. `ask`: an effect of a session begins in a process that does not know which servers have viewers of it.
 */
export type ViewerText =
  | { readonly type: "view"; readonly server: string; readonly sessions: readonly ViewedSession[] }
  | { readonly type: "leave"; readonly server: string; readonly sessions: readonly string[] }
  | { readonly type: "ask"; readonly session: string };

/** The topic to which `ViewerText` is sent. Other versions of these texts have another one. */
export const viewersTopic = "viewers/1";

/** The key of a session in these texts: another session with the same id has another one. */
export const liveKeyOf = (id: string, incarnation: string | undefined): string =>
  digestOf("live", id, incarnation ?? "");

/** The value of a text; undefined for a text of another form, such as that of another release. */
export function viewerTextOf(text: string): ViewerText | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isViewerText(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isViewerText(value: unknown): value is ViewerText {
  if (!isObject(value)) return false;
  const { type, server, session, sessions } = value;
  if (type === "ask") return typeof session === "string";
  if (typeof server !== "string" || !Array.isArray(sessions)) return false;
  if (type === "view") return sessions.every(isViewedSession);
  return type === "leave" && sessions.every((key) => typeof key === "string");
}

function isViewedSession(value: unknown): value is ViewedSession {
  if (!isObject(value)) return false;
  const { session, messageId, length, isAsked, isNew } = value;
  return (
    typeof session === "string" &&
    (messageId === null || typeof messageId === "string") &&
    Number.isSafeInteger(length) &&
    Number(length) >= 0 &&
    typeof isAsked === "boolean" &&
    typeof isNew === "boolean"
  );
}
