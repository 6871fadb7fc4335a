/** @jsxImportSource preact */
import type { JSX } from "preact";
import type { RequestMessage, RequestView } from "../session/request-view.ts";
import { copyText } from "./copy.tsx";
import { amountText } from "./detail-panels.tsx";
import { goTo, view, worker } from "./store.ts";

/** The exact request to the model: what it got with or before this record, or would get now. */
export function RequestPanel(): JSX.Element | null {
  const shown = view.value;
  if (shown === undefined) return null;
  const { request, seq } = shown;
  if (request === undefined) return <p class="empty">No model was called until this record.</p>;
  const { messages, omitted, stable, system, settings, tools } = request;
  return (
    <div class="request">
      <p class="facts">
        <span>{titleOf(request)}</span>
        <span class="badge">{request.purpose}</span>
        {request.model === "" ? null : <span class="badge">{request.model}</span>}
        <button type="button" class="quiet" onClick={() => void copyRequest(seq)}>
          Copy as JSON
        </button>
        {request.sentAt === undefined || request.sentAt === seq ? null : (
          <button type="button" class="quiet" onClick={() => goTo(request.sentAt ?? seq)}>
            Go to record {request.sentAt}
          </button>
        )}
      </p>
      <p class="prefix">
        <b>{stable}</b> of {messages.length + omitted} messages are those of the request before.{" "}
        {request.cache ?? "This is the first one."}
      </p>
      <Context context={request.context} />
      <details class={request.hasSameHead ? "stable" : "new"}>
        <summary>System prompt, {tools.length} tools, settings</summary>
        <h2>System prompt</h2>
        <pre tabIndex={0}>{system === "" ? "(none)" : system}</pre>
        {tools.map(({ name, description, schema }) => (
          <details key={name}>
            <summary>
              <span class="tool">{name}</span> {description}
            </summary>
            <pre tabIndex={0}>{schema}</pre>
          </details>
        ))}
        <h2>Settings</h2>
        <pre tabIndex={0}>{settings}</pre>
      </details>
      {omitted > 0 ? (
        <p class="empty">{omitted} earlier messages are not shown. Copy the JSON to see all.</p>
      ) : null}
      <ol class="request-messages">
        {messages.map((message, index) => (
          <Message key={index} message={message} />
        ))}
      </ol>
    </div>
  );
}

const titleOf = ({ sentAt }: RequestView): string =>
  sentAt === undefined
    ? "The model would get this request now."
    : `The model got this request with record ${sentAt}.`;

/** The tokens of the parts of a request, and what it leaves out. */
function Context({ context }: Pick<RequestView, "context">): JSX.Element | null {
  if (context === undefined) return null;
  const { tokens, maxInputTokens, sizes } = context.plan;
  const limit = maxInputTokens === 0 ? "no limit" : `limit ${amountText(maxInputTokens)}`;
  return (
    <details>
      <summary>{`Context: ${amountText(tokens)} tokens, ${limit}`}</summary>
      <table>
        <caption>Estimated tokens of each part</caption>
        <tbody>
          {Object.entries(sizes).map(([part, size]) => (
            <tr key={part}>
              <th scope="row">{part}</th>
              <td>{amountText(size)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {context.leftOut.map((text) => (
        <p key={text}>Left out: {text}.</p>
      ))}
    </details>
  );
}

const copyRequest = async (seq: number): Promise<void> =>
  copyText((await worker.call("requestJson", seq)) ?? "", "The request");

const Message = ({ message: { role, blocks, isNew } }: { readonly message: RequestMessage }): JSX.Element => (
  <li class={isNew ? "new" : "stable"}>
    <p class="who">
      {role} <span class="badge">{isNew ? "new" : "stable"}</span>
    </p>
    {blocks.map(({ kind, title, text }, index) => (
      <div key={index} class={`block ${kind}`}>
        {title === "" ? null : <span class="block-title">{title}</span>}
        <p class="content">{text}</p>
      </div>
    ))}
  </li>
);
