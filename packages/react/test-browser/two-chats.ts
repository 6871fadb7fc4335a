/// <reference lib="dom" />
/** A page that shows one of two chats, in the same component, and changes to the other one with an answer. */
import { readAgentChat, useAgentChat } from "@moora/react/ai-sdk";
import { isToolUIPart, type UIMessage } from "ai";
import { createElement, StrictMode, useState, type ReactElement } from "react";
import { createRoot } from "react-dom/client";

declare global {
  /** Shows the chats of the agent of a server with this URL. */
  var showChats: (server: string) => Promise<void>;
  /** Approves what the chat asks, and shows the other one: outside of an event of React, so that the post has begun before. */
  var approveAndChange: () => void;
}

type Stored = Readonly<Record<string, UIMessage[]>>;

function Chats({ api, stored }: { readonly api: string; readonly stored: Stored }): ReactElement {
  const [id, setId] = useState("a");
  const chat = useAgentChat({ api, id, messages: stored[id] ?? [] });
  const asking = chat.messages
    .flatMap(({ parts }) => parts)
    .filter(isToolUIPart)
    .flatMap((part) => (part.state === "approval-requested" ? [part.approval.id] : []));
  globalThis.approveAndChange = () => {
    for (const approvalId of asking) void chat.addToolApprovalResponse({ id: approvalId, approved: true });
    setId("b");
  };
  return createElement("h1", undefined, `Chat ${id}, ${asking.length} open`);
}

globalThis.showChats = async (server) => {
  const api = `${server}/agents/helper/chat`;
  const read = async (id: string): Promise<[string, UIMessage[]]> => [
    id,
    (await readAgentChat({ api, id })).messages,
  ];
  const stored = Object.fromEntries(await Promise.all(["a", "b"].map(read)));
  const chats = createElement(Chats, { api, stored });
  createRoot(document.body).render(createElement(StrictMode, undefined, chats));
};
