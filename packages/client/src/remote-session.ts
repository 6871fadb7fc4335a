import type {
  AgentAttachment,
  DecisionOn,
  Question,
  QuestionAbout,
  Recipe,
  ScheduleOptions,
  Session,
  Tool,
} from "@moora/agent";
import type { ClientError } from "./client-error.ts";
import type { PendingPost } from "./post.ts";

/**
 * The connection of a session to its server. `connecting`: it is being made. `waiting`: it is lost, and made again at `retryAt`, in
 * milliseconds since 1970. `closed`: the session has ended, because of `error` unless it was closed here.
 */
export type Connection = {
  /** The posts whose records this session does not contain, oldest first. */
  readonly pending: readonly PendingPost[];
} & (
  | { readonly status: "connecting" | "connected" }
  | { readonly status: "waiting"; readonly retryAt: number; readonly cause: unknown }
  | { readonly status: "closed"; readonly error?: ClientError }
);

/** The methods that a remote session has in common with a local one. */
type SharedMethods =
  | "~tools"
  | "id"
  | "ask"
  | "running"
  | "send"
  | "questions"
  | "current"
  | "draft"
  | "seq"
  | "subscribe"
  | "onEvent"
  | "onInput"
  | "onError"
  | "trace";

/**
 * A session that a server runs: the same reducer folds the same records here. Posts resolve when the server has made them durable
 * and this session contains them; they wait while the server cannot be reached. They reject with `ClientError`. Reviewer and
 * author of a change are the authenticated user.
 */
export interface RemoteSession<
  Answer = string,
  Data = unknown,
  Tools extends Tool = Tool,
  Asked extends Question = QuestionAbout<Tools>,
>
  extends Pick<Session<Answer, Data, Tools, Asked>, SharedMethods>, AsyncDisposable {
  /** Ends the connection. The server continues to run the session. */
  close(): Promise<void>;
  /** The name of the agent. */
  readonly agent: string;
  /** The authenticated user. */
  readonly user: string;
  /** Answers a question, also one of a sub-agent. */
  readonly decide: <Asked extends Parameters<Session["decide"]>[0]>(
    question: Asked,
    decision: DecisionOn<Asked>,
  ) => ReturnType<Session["decide"]>;
  /**
   * Changes the application data with a recipe. It runs when the post is sent, and again if any data has changed since the record
   * that this session had then. Rejects with `ClientError` for data that does not fit the schema of the agent and for a change that
   * does not fit the size of a post, with `DataRefused` for more than 999 changed top-level fields or items, and with what
   * the recipe throws.
   */
  readonly update: (recipe: Recipe<Data>) => ReturnType<Session["update"]>;
  /** Cancels the running loop. */
  readonly cancel: (reason?: string) => ReturnType<Session["cancel"]>;
  /** Tries a failed or canceled loop again. */
  readonly retry: () => ReturnType<Session["retry"]>;
  /** Pauses the session: no new work starts. */
  readonly pause: (reason?: string) => ReturnType<Session["pause"]>;
  /** Continues a paused session. */
  readonly resume: () => ReturnType<Session["resume"]>;
  /** Sets a schedule, as the session at the server does, and returns its id. Rejects with `ClientError` for invalid options. */
  readonly schedule: (options: ScheduleOptions) => ReturnType<Session["schedule"]>;
  /** Removes a schedule. */
  readonly unschedule: (id: string) => ReturnType<Session["unschedule"]>;
  /** The state of the connection. The same object until it changes; `subscribe` reports that, too. */
  readonly connection: () => Connection;
  /**
   * The URL at which a page reads a file of this session: an address of the server for one whose bytes are stored outside the
   * records, and the URL of any other file. The address needs the rights of the user: cookies, or a `fetch` with `headers`.
   */
  readonly fileUrl: (file: Pick<AgentAttachment, "url">) => string;
  /**
   * Connects and sends what is pending at once, instead of after the current wait. A connection that exists is made again: it may be
   * dead without a sign.
   */
  readonly reconnect: () => void;
  /**
   * Compares the state of this session with that of the server at the same record. Rejects with `Diverged` if they differ, at once with
   * `Unreachable` if the server cannot be reached, or answers to try again later (its `cause` is the error of the connection, or the
   * problem or status of the answer), and with `Closed`.
   */
  readonly verify: () => Promise<void>;
}
