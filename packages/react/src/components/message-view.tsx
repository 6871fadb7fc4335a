import { escapeHiddenCharacters, type AgentAttachment } from "@moora/agent";
import { failureText } from "@moora/agent-core-state-machine";
import type { JSX, ReactNode } from "react";
import type { ChatMessage, ChatPart, ToolCallPart, ToolCallStatus } from "../chat.ts";
import { Markdown } from "./markdown.tsx";

/** The properties of `MessageView`. */
export interface MessageViewProps {
  readonly message: ChatMessage;
  /**
   * The address at which the page reads a file. Without it, or where it returns undefined, a file is only named. A picture is shown if the
   * server of the session has stored it, or its address is `blob:`, `data:` or of the origin of the page; others are links.
   */
  readonly fileUrl?: ((file: AgentAttachment) => string | undefined) | undefined;
  /** Whether links of the model can be followed. Default: true. */
  readonly links?: boolean;
  /** What is shown below the details of a tool call. */
  readonly callFooter?: ((call: ToolCallPart) => ReactNode) | undefined;
}

/**
 * A message: the text of a user as it is, that of the agent as Markdown, with its reasoning, its files, and its tool calls, which open to
 * their arguments and results.
 */
export const MessageView = ({ message, ...view }: MessageViewProps): JSX.Element => {
  const { role, parts, streaming, status, scheduled } = message;
  return (
    <article className={`moora-message moora-${role}`} data-streaming={streaming}>
      <p className="moora-unseen">{role === "user" ? "User" : "Agent"}</p>
      {parts.map((part, index) => (
        <PartView key={index} part={part} role={role} {...view} />
      ))}
      {streaming && parts.length === 0 ? <p className="moora-writing">Writing…</p> : null}
      {scheduled === undefined ? null : <p className="moora-note">Scheduled</p>}
      {status === undefined ? null : <p className="moora-note">{statusTexts[status]}</p>}
    </article>
  );
};

const statusTexts: Readonly<Record<NonNullable<ChatMessage["status"]>, string>> = {
  cut: "This message ended early.",
  dropped: "This message was not accepted.",
  withheld: "The model does not get this message.",
};

interface PartProps extends Omit<MessageViewProps, "message"> {
  readonly part: ChatPart;
  readonly role: ChatMessage["role"];
}

function PartView({ part, role, links = true, fileUrl, callFooter }: PartProps): JSX.Element {
  switch (part.type) {
    case "text":
      return role === "user" ? (
        <p className="moora-text">{part.text}</p>
      ) : (
        <Markdown text={part.text} links={links} />
      );
    case "reasoning":
      return (
        <details className="moora-reasoning">
          <summary>Reasoning</summary>
          <p className="moora-text">{part.text}</p>
        </details>
      );
    case "file":
      return <FileView file={part.file} url={fileUrl?.(part.file)} links={links} />;
    case "tool-call":
      return <CallView call={part}>{callFooter?.(part)}</CallView>;
  }
}

interface FileProps {
  readonly file: AgentAttachment;
  readonly url: string | undefined;
  readonly links: boolean;
}

/**
 * A file: a picture, or a link to download it. An address of another origin that a model, a tool or a user has written is only a link: its
 * server would learn from a picture that the message is read.
 */
function FileView({ file, url, links }: FileProps): JSX.Element {
  const name = file.name ?? file.mediaType;
  const address = url === undefined ? undefined : addressOf(url);
  if (address === undefined) return <span className="moora-file">{name}</span>;
  if (!isOwn(address) && !isStored.test(file.url)) {
    if (!links) return <span className="moora-file">{`${name} (${url})`}</span>;
    return (
      <a className="moora-file" href={url} target="_blank" rel="noreferrer noopener">
        {name}
      </a>
    );
  }
  if (file.mediaType.startsWith("image/")) return <img className="moora-picture" src={url} alt={name} />;
  return (
    <a className="moora-file" href={url} download={name}>
      {name}
    </a>
  );
}

/** An address that a page may use; undefined for that of a script. */
function addressOf(url: string): URL | undefined {
  const address = URL.canParse(url, document.baseURI) ? new URL(url, document.baseURI) : undefined;
  return address !== undefined && /^(https?|blob|data):$/.test(address.protocol) ? address : undefined;
}

/** Whether an address asks no other server than that of the page. */
const isOwn = ({ protocol, origin }: URL): boolean =>
  protocol === "data:" || protocol === "blob:" || origin === location.origin;

/** The address of bytes that the server of the session has stored: `fileUrl` makes the address of this server of it. */
const isStored = /^ni:/;

const callTexts: Readonly<Record<ToolCallStatus, string>> = {
  drafting: "writing",
  queued: "waits",
  running: "runs",
  retrying: "tries again",
  checking: "checks",
  asking: "asks",
  done: "returned",
  rejected: "rejected",
  failed: "failed",
};

interface CallProps {
  readonly call: ToolCallPart;
  readonly children?: ReactNode;
}

/** More characters than a line of a screen has. */
const mostInLine = 500;

/** A tool call in one line, which opens to its arguments, those that the model asked for if they were changed, and its result. */
function CallView({ call, children }: CallProps): JSX.Element {
  const { name, status, parameters, original, result, decision, progress } = call;
  const shown = escapeHiddenCharacters(parameters);
  return (
    <details className={`moora-call moora-${status}`}>
      <summary>
        <code className="moora-tool">{escapeHiddenCharacters(name)}</code>
        <code className="moora-arguments">{shown.slice(0, mostInLine)}</code>
        {decision === undefined ? null : (
          <span className="moora-badge">
            {decision.type} by {decision.by}
          </span>
        )}
        <span className="moora-badge moora-status">{callTexts[status]}</span>
      </summary>
      {progress === undefined ? null : <p className="moora-note">{progress}</p>}
      <Detail title="Arguments" text={shown} />
      {original === undefined ? null : (
        <Detail title="Arguments that the model asked for" text={escapeHiddenCharacters(original)} />
      )}
      {result === null ? null : result.isSuccess ? (
        <Detail title="Result" text={result.content} />
      ) : (
        <Detail
          title={`Error${result.code === undefined ? "" : `, ${result.code}`}`}
          text={failureText(result)}
        />
      )}
      {children}
    </details>
  );
}

const Detail = ({ title, text }: { readonly title: string; readonly text: string }): JSX.Element => (
  <>
    <h2>{title}</h2>
    <pre tabIndex={0}>{text}</pre>
  </>
);
