import type { LogRecord } from "@moora/event-log";
import type {
  AppendResult,
  Decided,
  LogHead,
  Posted,
  PostedResult,
  RecordsQuery,
  Report,
  SessionAppend,
  SessionDeadline,
  SnapshotPart,
  View,
  ViewQuery,
} from "./session-messages.ts";
import type { Context, SharedContext } from "./stored-session.ts";

/**
 * The handlers of the object of a session: `post` and `decide` for callers, `create`, `append` and `remove` for logs, `report` for effects,
 * `expire` for timers. The others read.
 */
export interface SessionHandlers {
  post(ctx: Context, posted: Posted): Promise<PostedResult>;
  decide(ctx: Context, decided: Decided): Promise<PostedResult>;
  create(ctx: Context, given: { readonly header: string }): Promise<boolean>;
  append(ctx: Context, append: SessionAppend): Promise<AppendResult>;
  remove(ctx: Context): Promise<boolean>;
  report(ctx: Context, report: Report): Promise<PostedResult>;
  expire(ctx: Context, deadline: SessionDeadline): Promise<void>;
  view(ctx: SharedContext, query?: ViewQuery | null): Promise<View | null>;
  part(ctx: SharedContext, part: SnapshotPart): Promise<string | null>;
  records(ctx: SharedContext, query: RecordsQuery): Promise<readonly LogRecord[]>;
  header(ctx: SharedContext): Promise<string | null>;
  head(ctx: SharedContext): Promise<LogHead | null>;
}
