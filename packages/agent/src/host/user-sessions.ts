import type { Agent } from "../define-agent.ts";
import type { DurableSession } from "../durable/durable-session.ts";
import type { SessionView } from "../session/session.ts";

type UsedMethods =
  | "id"
  | "send"
  | "decide"
  | "cancel"
  | "questions"
  | "current"
  | "trace"
  | "info"
  | "onEvent"
  | "settled";

/** An open session as a call of a tool uses it, such as a `DurableSession`. */
export interface CallSession extends Pick<DurableSession<unknown>, UsedMethods> {
  /** Ends the use. Can be called more than once. */
  close(): Promise<void>;
}

/** What a call does with a session that exists. */
export type CallAction = "continue" | "decide" | "cancel";

/** A session as the list of sessions shows it. */
export interface ListedSession {
  readonly id: string;
  readonly agent: string;
  readonly records: number;
}

/** The sessions of a user, as the request of this user may use them. */
export interface UserSessions {
  /** The name under which decisions are recorded. */
  readonly user: string;
  /** The id of a new session, which cannot be guessed. */
  newId(): string;
  /** Why the user may not do this with a session, in words for the client; undefined if the user may. */
  refusal(action: CallAction, id: string): Promise<string | undefined>;
  /** Opens a session, or creates it with an id of `newId`. Rejects with `InputRefused` for what the user may not do. */
  open(id: string, agent: Agent<unknown>): Promise<CallSession>;
  list(): AsyncIterable<ListedSession>;
  /** The messages of a session; undefined for one that the user may not read. */
  messagesOf(id: string): Promise<SessionView["messages"] | undefined>;
}
