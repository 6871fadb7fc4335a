/** @jsxImportSource preact */
import type { ToolCallPart } from "@moora/react";
import type { JSX } from "preact";
import { memo } from "preact/compat";
import { useRef } from "preact/hooks";
import type { ConversationItem } from "../session/conversation.ts";
import { MessageView, Suggestions } from "./components.ts";
import { useKeptFocus } from "./focus.ts";
import { isChatOpen } from "./live-source.ts";
import { Composer, control, Questions, streamed } from "./live-panel.tsx";
import { firstQuestions } from "./start-screen.tsx";
import { goTo, session, showEarlier, view, find } from "./store.ts";

/** The conversation as the user saw it at the position, with what a user can do in a live session. */
export function ConversationPanel(): JSX.Element {
  const panel = useRef<HTMLElement>(null);
  useKeptFocus(panel, [
    ".moora-decision :is(button, input, textarea, select)",
    ".moora-composer :is(textarea, button)",
  ]);
  const shown = view.value;
  const items = withStream(shown?.conversation.items ?? [], streamed.value);
  const omitted = shown?.conversation.omitted ?? 0;
  return (
    <section ref={panel} class="moora-chat" aria-label="Conversation">
      <div class="moora-messages" tabIndex={0} role="log" aria-live="off">
        <div>
          {omitted > 0 ? (
            <button type="button" class="quiet" onClick={showEarlier}>
              Show earlier messages ({omitted} more)
            </button>
          ) : null}
          {items.length > 0 ? null : isChatOpen.value ? (
            <FirstQuestions />
          ) : (
            <p class="empty">No message at this position.</p>
          )}
          {items.map((item, index) => (
            <Item key={index} item={item} />
          ))}
        </div>
      </div>
      <Questions />
      <Composer />
    </section>
  );
}

/** What an empty chat shows. */
const FirstQuestions = (): JSX.Element => (
  <div class="new-chat">
    <h2>What should {session.value?.agent ?? "the agent"} do?</h2>
    <Suggestions suggestions={firstQuestions} choose={(content) => void control("messages", { content })} />
  </div>
);

/** The items with the text that is streamed: of the message that has begun, or of one whose beginning has no record yet. */
function withStream(
  items: readonly ConversationItem[],
  stream: typeof streamed.value,
): readonly ConversationItem[] {
  if (stream === undefined) return items;
  const { messageId: id, text } = stream;
  const parts = text === "" ? [] : ([{ type: "text", text }] as const);
  const isOf = (item: ConversationItem): boolean => item.kind === "message" && item.message.id === id;
  const shown = { kind: "message", message: { id, role: "assistant", parts, streaming: true } } as const;
  return items.some(isOf) ? items.map((item) => (isOf(item) ? shown : item)) : [...items, shown];
}

function Item({ item }: { readonly item: ConversationItem }): JSX.Element {
  switch (item.kind) {
    case "message":
      return <ShownMessage message={item.message} links={false} callFooter={CallRecords} />;
    case "handoff":
      return (
        <p class="handoff">
          {item.from} → {item.to}
        </p>
      );
    case "failure":
      return (
        <p class="moora-problem" role="note">
          {item.text}
        </p>
      );
  }
}

/** A message, rendered again if it is another one: each position has objects of its own. */
const ShownMessage = memo(
  MessageView,
  ({ message: before }, { message: now }) =>
    // While a message is streamed, the others stay the same objects: they are not written as JSON for each piece of it.
    before === now || JSON.stringify(before) === JSON.stringify(now),
);

const CallRecords = ({ toolCallId }: Pick<ToolCallPart, "toolCallId">): JSX.Element => (
  <button
    type="button"
    onClick={() => {
      goTo(0);
      void find(toolCallId);
    }}
  >
    Show the records of {toolCallId}
  </button>
);
