import type { DurableSession } from "@moora/agent";
import { answerMessageId, type StreamedSession } from "@moora/agent/internal";

/** What the session that this server runs streams. */
export const durableStream = (session: DurableSession<unknown>): StreamedSession => ({
  seq: () => session.seq(),
  streaming: () => session.current().streaming,
  startedMessage() {
    const { reActContext } = session.current();
    const { control } = reActContext;
    return control.type === "Planning" ? answerMessageId(reActContext, control) : undefined;
  },
  questions: () => session.questions(),
  onRecord: (listener) => session.onInput((_input, _state, seq) => listener(seq)),
  onEvent: (listener) => session.onEvent(listener),
});
