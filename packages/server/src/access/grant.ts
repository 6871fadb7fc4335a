/** What a request does with a session. */
export type SessionAction = "create" | "read" | "post" | "decide" | "cancel" | "update" | "remove";

/** A session, as rights are decided about it. */
export interface SessionRef {
  readonly id: string;
  /** The name of its agent. */
  readonly agent: string;
  /** The user to whom it belongs; null for a session that was created without one. */
  readonly user: string | null;
}

/** Whether a user may do something with a session. */
export type May = (action: SessionAction, session: SessionRef) => boolean | Promise<boolean>;

/** An authenticated user, with the rights of the request. */
export interface Grant {
  /** The user, to whom new sessions belong, and under whose name decisions are recorded. */
  readonly user: string;
  /** Limits what the user may do with own sessions. Default: everything. */
  readonly may?: May;
  /** Allows actions on sessions of others, such as `read` and `decide` for a reviewer. Default: nothing. */
  readonly mayForeign?: May;
  /** Whether the user may read `/metrics`, which count the requests and the sessions of all users. Default: false. */
  readonly mayReadMetrics?: boolean;
}

/** Authenticates a request. Undefined refuses it. */
export type Authorize = (request: Request) => Grant | undefined | Promise<Grant | undefined>;
