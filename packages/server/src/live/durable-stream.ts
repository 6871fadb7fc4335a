import type { DurableSession } from "@moora/agent";
import { answerMessageId, type StreamedSession } from "@moora/agent/internal";
import { reasoningOf, type AnswerDraft } from "./answer-draft.ts";

/** What the session that this server runs streams. `draft` is what its model has written of the answer. */
export const durableStream = (
  session: DurableSession<unknown>,
  draft: () => AnswerDraft | undefined,
): StreamedSession => ({
  seq: () => session.seq(),
  streaming: () => session.current().streaming,
  reasoning() {
    const written = draft();
    if (written !== undefined) return reasoningOf(written);
    const messageId = startedMessageOf(session);
    return messageId === undefined ? undefined : { messageId, parts: [] };
  },
  startedMessage: () => startedMessageOf(session),
  questions: () => session.questions(),
  onRecord: (listener) => session.onInput((_input, _state, seq) => listener(seq)),
  onEvent: (listener) => session.onEvent(listener),
});

/** The message of the model call that runs. */
function startedMessageOf(session: DurableSession<unknown>): string | undefined {
  const { reActContext } = session.current();
  const { control } = reActContext;
  return control.type === "Planning" ? answerMessageId(reActContext, control) : undefined;
}
