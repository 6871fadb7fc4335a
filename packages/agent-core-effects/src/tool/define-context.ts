/**
 * The type of what a host gives to the tools and handlers of one session, such as its user and a database connection. It is code of
 * the host: the log never contains it.
 */
export interface ContextDefinition<Context = never> {
  readonly type: "context";
  /** Exists only for types; not set. */
  readonly "~context"?: (context: Context) => void;
}

/** The part of a tool or an agent that names the type of the context that its sessions need. Exists only for types. */
export interface NeedsContext<Context> {
  readonly "~context"?: (context: Context) => void;
}

/** The part of the context of a call or a handler that contains what the host gave to the session. */
export interface HostContext<Context> {
  readonly context: Context;
}

/** A type with the need for a context; the type itself if it needs none. */
export type WithNeed<Of, Context> = Of & (unknown extends Context ? unknown : NeedsContext<Context>);

/** The context that every one of some tools accepts: the intersection of those that they need; unknown if they need none. */
export type ContextNeededBy<Tools> = [Tools] extends [NeedsContext<infer Context>] ? Context : unknown;

/**
 * Names the type of the context that tools and handlers need. A session of an agent that has such a tool can only be opened with a
 * context of this type.
 */
export const defineContext = <Context extends object>(): ContextDefinition<Context> => ({ type: "context" });

/** Whether a value was created by `defineContext`: callers without types may pass any value. */
export const isContextDefinition = (value: unknown): value is ContextDefinition =>
  typeof value === "object" && value !== null && "type" in value && value.type === "context";
