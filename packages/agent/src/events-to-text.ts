import type { AgentEvent } from "./agent-event.ts";

/** The text of the events of a run: each message on a line of its own, and the answer last, also if it was not streamed. */
export const eventsToText = (events: AsyncIterable<AgentEvent<unknown>>): AsyncIterable<string> => ({
  async *[Symbol.asyncIterator]() {
    let [messageId, end, shown] = ["", 0, ""];
    for await (const event of events) {
      if (event.type !== "LlmToken" && event.type !== "FinalAnswer") continue;
      const { text } = event;
      if (event.type === "FinalAnswer" && text.trim() === shown.trim()) continue;
      const place = event.type === "LlmToken" ? event : { messageId: "", offset: 0 };
      const isNext = place.messageId === messageId && place.offset === end;
      yield isNext || shown === "" || shown.endsWith("\n") ? text : `\n${text}`;
      shown = isNext ? shown + text : text;
      messageId = place.messageId;
      end = place.offset + text.length;
    }
  },
});
