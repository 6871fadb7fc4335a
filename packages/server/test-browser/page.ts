/// <reference lib="dom" />
/** A page with `useChat` of the AI SDK and its default transport, as an application has it. It knows nothing of Moora. */
import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type FileUIPart,
  type UIMessage,
} from "ai";
import { createElement, type ReactElement } from "react";
import { createRoot } from "react-dom/client";

declare global {
  /** Shows the chat of an agent at this address. */
  var showChat: (api: string) => void;
}

type Approve = ReturnType<typeof useChat>["addToolApprovalResponse"];

function part(
  { id, role }: UIMessage,
  given: UIMessage["parts"][number],
  index: number,
  approve: Approve,
): ReactElement {
  const key = `${id}-${index}`;
  if (given.type === "text") return createElement("p", { key, className: role }, given.text);
  if (given.type === "reasoning") return createElement("p", { key, className: "reasoning" }, given.text);
  if (given.type === "file") return createElement("img", { key, src: given.url, alt: role });
  if (!isToolUIPart(given)) return createElement("hr", { key });
  const { state } = given;
  if (state !== "approval-requested") {
    const output = state === "output-available" ? ` ${JSON.stringify(given.output)}` : "";
    return createElement("p", { key, className: "tool" }, `${state}${output}`);
  }
  const { id: approvalId } = given.approval;
  const answer = (approved: boolean) => () => void approve({ id: approvalId, approved });
  const input = JSON.stringify(given.input);
  return createElement(
    "span",
    { key },
    createElement("button", { onClick: answer(true) }, `Approve ${input}`),
    createElement("button", { onClick: answer(false) }, `Reject ${input}`),
  );
}

/** A picture of one pixel. */
const dot: FileUIPart = {
  type: "file",
  mediaType: "image/gif",
  url: "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=",
};

function Chat({ transport }: { readonly transport: DefaultChatTransport<UIMessage> }): ReactElement {
  const { messages, sendMessage, addToolApprovalResponse, status, error } = useChat({
    id: "chat-1",
    resume: true,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const send = (text: string): ReactElement => {
    const files = text === "Look" ? { files: [dot] } : {};
    return createElement("button", { key: text, onClick: () => void sendMessage({ text, ...files }) }, text);
  };
  return createElement(
    "main",
    undefined,
    createElement("output", undefined, error === undefined ? status : error.message),
    ...["Pay", "Sing", "Add", "Look", "Break"].map(send),
    ...messages.flatMap((message) =>
      message.parts.map((given, index) => part(message, given, index, addToolApprovalResponse)),
    ),
  );
}

globalThis.showChat = (api) => {
  const transport = new DefaultChatTransport<UIMessage>({ api });
  createRoot(document.body).render(createElement(Chat, { transport }));
};
