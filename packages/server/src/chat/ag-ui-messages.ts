import type { AgentState } from "@moora/agent";
import { contentWithFiles } from "./ag-ui-files.ts";
import { callsMessageId, resultMessageId } from "./ag-ui-ids.ts";

/** The conversation as the log has it, as messages of AG-UI. */
export function messagesOf(state: AgentState, toUrl: (url: string) => string): readonly object[] {
  return state.transcript.flatMap((entry): readonly object[] => {
    if (entry.type === "message") {
      const message = state.messages.find(({ id }) => id === entry.messageId);
      if (message?.role !== "user") return [];
      const { content, attachments } = message;
      return [
        {
          id: message.id,
          role: "user",
          content: contentWithFiles({ text: content, files: attachments }, toUrl),
        },
      ];
    }
    return entry.type === "turn" ? turnMessages(state, entry, toUrl) : [];
  });
}

function turnMessages(
  { toolCalls }: AgentState,
  { loop, step, messageId, parts }: Extract<AgentState["transcript"][number], { type: "turn" }>,
  toUrl: (url: string) => string,
): readonly object[] {
  const content = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const calls = parts.flatMap((part) => {
    if (part.type !== "call") return [];
    const call = toolCalls[part.toolCallId];
    return call === undefined ? [] : [{ id: part.toolCallId, call }];
  });
  const called = calls.map(({ id, call: { name, parameters } }) => ({
    id,
    type: "function",
    function: { name, arguments: parameters },
  }));
  const results = calls.flatMap(({ id, call: { result } }) =>
    result === null
      ? []
      : [
          {
            id: resultMessageId(id),
            role: "tool",
            toolCallId: id,
            content: result.isSuccess
              ? contentWithFiles({ text: result.content, files: result.files }, toUrl)
              : result.error,
          },
        ],
  );
  // A turn of calls alone has no message.
  const [first] = calls;
  const id = messageId ?? (first === undefined ? `turn_${loop}_${step}` : callsMessageId(first.id));
  return [
    { id, role: "assistant", content, ...(called.length === 0 ? {} : { toolCalls: called }) },
    ...results,
  ];
}
