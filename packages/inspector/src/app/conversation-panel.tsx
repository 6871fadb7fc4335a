/** @jsxImportSource preact */
import { failureText } from "@moora/agent-core-state-machine";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ConversationItem } from "../session/conversation.ts";
import { useKeptFocus } from "./focus.ts";
import { Composer, Questions, streamed } from "./live-panel.tsx";
import { goTo, showEarlier, view, find } from "./store.ts";

/** The conversation as the user saw it at the position. */
export function ConversationPanel(): JSX.Element {
  const panel = useRef<HTMLElement>(null);
  const end = useRef<HTMLDivElement>(null);
  useKeptFocus(panel, [".decision :is(button, input, textarea, select)", ".composer :is(input, button)"]);
  const shown = view.value;
  const { value: stream } = streamed;
  const items = withStream(shown?.conversation.items ?? [], stream);
  const omitted = shown?.conversation.omitted ?? 0;
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [shown?.seq, items.length, stream]);
  return (
    <section ref={panel} class="conversation" aria-label="Conversation">
      <div class="messages" tabIndex={0} role="log" aria-live="off">
        {omitted > 0 ? (
          <button type="button" class="quiet" onClick={showEarlier}>
            Show earlier messages ({omitted} more)
          </button>
        ) : null}
        {items.length === 0 ? <p class="empty">No message at this position.</p> : null}
        {items.map((item, index) => (
          <Item key={index} item={item} />
        ))}
        <div ref={end} />
      </div>
      <Questions />
      <Composer />
    </section>
  );
}

/** The items with the text that is streamed: of the message that has begun, or of one whose beginning has no record yet. */
function withStream(
  items: readonly ConversationItem[],
  stream: typeof streamed.value,
): readonly ConversationItem[] {
  if (stream === undefined) return items;
  const { messageId: id, text: content } = stream;
  const isOf = (item: ConversationItem): item is MessageItem => item.kind === "message" && item.id === id;
  if (items.some(isOf)) return items.map((item) => (isOf(item) ? { ...item, content } : item));
  const fields = { role: "assistant", isStreaming: true, status: undefined, attachments: [] } as const;
  return [...items, { kind: "message", id, content, ...fields }];
}

type MessageItem = Extract<ConversationItem, { kind: "message" }>;

function Item({ item }: { readonly item: ConversationItem }): JSX.Element {
  switch (item.kind) {
    case "message":
      return (
        <div class={`bubble ${item.role}${item.isStreaming ? " streaming" : ""}`}>
          <p class="who">
            {item.role === "user" ? "User" : "Agent"}
            {item.status === undefined ? null : <span class="badge">{item.status}</span>}
          </p>
          <p class="content">{item.isStreaming && item.content === "" ? "Writing…" : item.content}</p>
          {item.attachments.map((name) => (
            <span key={name} class="badge">
              {name}
            </span>
          ))}
        </div>
      );
    case "call":
      return <Call item={item} />;
    case "handoff":
      return (
        <p class="handoff">
          {item.from} → {item.to}
        </p>
      );
    case "failure":
      return (
        <p class="failure" role="note">
          {item.text}
        </p>
      );
  }
}

function Call({
  item: { id, call },
}: {
  readonly item: Extract<ConversationItem, { kind: "call" }>;
}): JSX.Element {
  const { name, parameters, original, result, decision } = call;
  const isRejected = result !== null && decision?.type === "rejected";
  const ended = result?.isSuccess === true ? "returned" : isRejected ? "rejected" : "failed";
  const status = result === null ? "open" : ended;
  return (
    <details class={`call ${status}`}>
      <summary>
        <span class="tool">{name}</span>
        <span class="arguments">{parameters}</span>
        {decision === undefined ? null : (
          <span class="badge">
            {decision.type} by {decision.by}
          </span>
        )}
        <span class={`badge ${status}`}>{status}</span>
      </summary>
      <h2>Arguments</h2>
      <pre tabIndex={0}>{parameters}</pre>
      {original === undefined ? null : (
        <>
          <h2>Arguments that the model asked for</h2>
          <pre tabIndex={0}>{original}</pre>
        </>
      )}
      {result === null ? null : (
        <>
          <h2>
            {result.isSuccess ? "Result" : `Error${result.code === undefined ? "" : `, ${result.code}`}`}
          </h2>
          <pre tabIndex={0}>{result.isSuccess ? result.content : failureText(result)}</pre>
        </>
      )}
      <button
        type="button"
        class="quiet"
        onClick={() => {
          goTo(0);
          void find(id);
        }}
      >
        Show the records of {id}
      </button>
    </details>
  );
}
