import { escapeHiddenCharacters } from "@moora/agent";
import { useMessage, type ChatPart, type ToolCallOf } from "@moora/react";
import { memo, type JSX } from "react";
import type { shopper } from "../agent.ts";

type Call = ToolCallOf<typeof shopper>;

/** One message. While the model writes it, nothing else is rendered, and of its parts only the one that changes. */
export const MessageView = memo(function MessageView({
  id,
  role,
}: {
  readonly id: string;
  readonly role: "user" | "assistant";
}): JSX.Element {
  const message = useMessage<typeof shopper>(id);
  return (
    <li className={`message ${role}`} data-streaming={message?.streaming}>
      <span className="author">{role === "user" ? "You" : "Agent"}</span>
      {message?.parts.map((part, index) => (
        <Part key={index} part={part} />
      ))}
      {message?.streaming === true && message.parts.length === 0 && <p className="thinking">…</p>}
      {message?.status === "cut" && <small>Interrupted</small>}
    </li>
  );
});

const Part = memo(function Part({ part }: { readonly part: ChatPart<Call> }): JSX.Element {
  if (part.type === "tool-call") return <ToolCall call={part} />;
  if (part.type === "file") return <a href={part.file.url}>{part.file.name ?? part.file.mediaType}</a>;
  return part.type === "reasoning" ? <p className="reasoning">{part.text}</p> : <p>{part.text}</p>;
});

const statusTexts: Readonly<Record<Call["status"], string>> = {
  drafting: "is being written",
  queued: "waits",
  running: "runs",
  retrying: "is tried again soon",
  checking: "is checked after an interruption",
  asking: "waits for you",
  done: "done",
  rejected: "rejected",
  failed: "failed",
};

/** The arguments of a call. Those of the example's tools have their types when the model has written them. */
function argumentsOf(call: Call): string {
  if (call.name === "add_items" && call.input !== undefined) return call.input.names.join(", ");
  return call.parameters;
}

function ToolCall({ call }: { readonly call: Call }): JSX.Element {
  const { name, status, progress, result } = call;
  return (
    <div className="call" data-status={status}>
      <strong>{name}</strong> <code>{escapeHiddenCharacters(argumentsOf(call))}</code>
      <span className="status">{(status === "running" && progress) || statusTexts[status]}</span>
      {result !== null && <p>{result.isSuccess ? result.content : result.error}</p>}
    </div>
  );
}
