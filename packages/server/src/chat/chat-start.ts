import type { Question } from "@moora/agent";
import type { PostedMessage } from "./posted-message.ts";

/** What a client of a stream has already. */
export type ChatStart =
  /** Nothing: a loop is written from its beginning. Default: the newest one. It ends with the `refusal` of the request, if there is one. */
  | { readonly type: "replay"; readonly loop?: number | undefined; readonly refusal?: string | undefined }
  /** The newest loop up to now, or what it has posted of a loop. `logged`: the questions that it answers, and that only logs have. */
  | {
      readonly type: "continue";
      readonly posted?: PostedMessage | undefined;
      readonly logged?: readonly Question[] | undefined;
    }
  /**
   * Nothing that is certain: the conversation of the log replaces what it shows, and the newest loop continues. `isHeld`: the stream does
   * not end before it is released.
   */
  | { readonly type: "rest"; readonly isHeld?: boolean }
  /** Everything before this message. `isHeld`: the stream does not end before it is released. */
  | { readonly type: "message"; readonly messageId: string; readonly isHeld?: boolean };
