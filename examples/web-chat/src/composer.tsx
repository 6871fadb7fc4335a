import { useAgent } from "@moora/react";
import { useRef, type JSX, type KeyboardEvent } from "react";
import type { shopper } from "../agent.ts";

/** The field for a message. Enter sends, Shift+Enter begins a line, Escape stops the agent. */
export function Composer(): JSX.Element {
  const { send, cancel, status } = useAgent<typeof shopper>();
  const field = useRef<HTMLTextAreaElement>(null);
  const isBusy = status === "running" || status === "waiting";
  const submit = (): void => {
    const element = field.current;
    if (element === null || element.value.trim() === "") return;
    // While the server is away, the message waits, and the list shows it.
    void send(element.value);
    element.value = "";
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && isBusy) void cancel();
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label htmlFor="message">Message</label>
      {/* The field is what this page is for. */}
      <textarea id="message" ref={field} rows={2} autoFocus onKeyDown={onKeyDown} />
      <div className="buttons">
        {isBusy && (
          <button type="button" onClick={() => void cancel()}>
            Stop
          </button>
        )}
        <button type="submit" className="primary">
          Send
        </button>
      </div>
    </form>
  );
}
