/// <reference lib="dom" />
/** A page with `useChat`, as an application has it. */
import type { useChat } from "@ai-sdk/react";
import { isToolUIPart, type FileUIPart, type UIMessage } from "ai";
import { createElement, StrictMode, type ReactElement } from "react";
import { createRoot } from "react-dom/client";

declare global {
  /** Shows the chat of the agent of a server with this URL. */
  var showChat: (server: string) => Promise<void>;
}

/** How a page reads a chat of the agent `helper`, and what it shows. */
export interface ChatFunctions {
  readonly readChat: (id: string) => Promise<{ readonly messages: UIMessage[] }>;
  readonly useAgentChat: (id: string, initial: UIMessage[]) => ReturnType<typeof useChat>;
}

type Answers = Pick<ReturnType<typeof useChat>, "addToolApprovalResponse" | "addToolOutput">;

function part(
  { id, role }: UIMessage,
  given: UIMessage["parts"][number],
  index: number,
  { addToolApprovalResponse: approve, addToolOutput }: Answers,
): ReactElement {
  const key = `${id}-${index}`;
  if (given.type === "text") return createElement("p", { key, className: role }, given.text);
  if (given.type === "reasoning") return createElement("p", { key, className: "reasoning" }, given.text);
  if (given.type === "file") return createElement("img", { key, src: given.url, alt: role });
  if (!isToolUIPart(given)) return createElement("hr", { key });
  const { state, toolCallId } = given;
  if (state === "input-available" && given.toolMetadata !== undefined) {
    const { question } = given.input as { question: string };
    const onClick = (): void => void addToolOutput({ tool: "ask" as never, toolCallId, output: "red" });
    return createElement("button", { key, onClick }, `Answer ${question}`);
  }
  if (state !== "approval-requested") {
    const output = state === "output-available" ? ` ${JSON.stringify(given.output)}` : "";
    const title = JSON.stringify(given.input);
    return createElement(
      "p",
      { key, className: "tool", title, "data-type": given.type },
      `${state}${output}`,
    );
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

interface ChatProps extends Pick<ChatFunctions, "useAgentChat"> {
  readonly initial: UIMessage[];
}

function Chat({ useAgentChat, initial }: ChatProps): ReactElement {
  const { messages, sendMessage, status, error, ...answers } = useAgentChat("chat-1", initial);
  const send = (text: string): ReactElement => {
    const files = text === "Look" ? { files: [dot] } : {};
    return createElement("button", { key: text, onClick: () => void sendMessage({ text, ...files }) }, text);
  };
  return createElement(
    "main",
    undefined,
    createElement("output", undefined, error === undefined ? status : error.message),
    ...["Pay", "Sing", "Add", "Look", "Break", "Ask"].map(send),
    ...messages.flatMap((message) =>
      message.parts.map((given, index) => part(message, given, index, answers)),
    ),
  );
}

/** Makes a page that shows a chat with these functions. The server has another origin than the page. */
export function showChatWith({ readChat, useAgentChat }: ChatFunctions): void {
  globalThis.showChat = async (server) => {
    const { fetch: given } = globalThis;
    globalThis.fetch = (input, init) => given(typeof input === "string" ? `${server}${input}` : input, init);
    const { messages: initial } = await readChat("chat-1");
    const chat = createElement(Chat, { useAgentChat, initial });
    createRoot(document.body).render(createElement(StrictMode, undefined, chat));
  };
}
