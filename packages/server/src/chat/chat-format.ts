import type { AgentState, DataPatch } from "@moora/agent";
import type { LiveSession } from "../sessions/live-session.ts";
import type { UiChunk } from "./ui-chunk.ts";

/** How the chunks of a loop are sent. */
export interface ChatFormat {
  readonly headers: Readonly<Record<string, string>>;
  /** The text after the last event. */
  readonly endText: string;
  /** Whether a message replaces one with the same id that the client has, so that it is written from its beginning. */
  readonly replacesMessages: boolean;
  readonly translator: (live: LiveSession) => ChatTranslator;
}

/** Translates one stream to the events of a format. */
export interface ChatTranslator {
  /** The events of each chunk, in order. */
  eventsOf(chunk: UiChunk): readonly object[];
  /**
   * The events for the application data of a state, for a format that has it. `patches` lead to it from the data before;
   * undefined if that is not known.
   */
  dataEvents?(state: AgentState, patches: readonly DataPatch[] | undefined): readonly object[];
  /** The events that replace what the client shows by the conversation of the log, for a format that has them. */
  conversation?(): readonly object[];
  /** The events that take back what the client should not show, for a format whose messages are not replaced. None if all is well. */
  correction?(): readonly object[];
}
