import { useAgent } from "@moora/react";
import { useRef, type JSX, type KeyboardEvent } from "react";
import type { shopper } from "../agent.ts";
import { usePost } from "./use-post.ts";

/** The field for a message. Enter sends, Shift+Enter begins a line, Escape stops the agent. */
export function Composer(): JSX.Element {
  const { send, cancel, status } = useAgent<typeof shopper>();
  const [problem, post] = usePost();
  const field = useRef<HTMLTextAreaElement>(null);
  const isBusy = status === "running" || status === "waiting";
  const submit = async (): Promise<void> => {
    const element = field.current;
    const text = element?.value ?? "";
    if (element === null || text.trim() === "") return;
    element.value = "";
    // While the server is away, the message waits, and the list shows it.
    const receipt = await post(() => send(text));
    if (receipt === undefined && element.value === "") element.value = text;
  };
  const stop = (): void => void post(() => cancel());
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && isBusy) stop();
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void submit();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label htmlFor="message">Message</label>
      {/* The field is what this page is for. */}
      <textarea id="message" ref={field} rows={2} autoFocus onKeyDown={onKeyDown} />
      {problem !== "" && (
        <p className="failure" role="alert">
          {problem}
        </p>
      )}
      <div className="buttons">
        {isBusy && (
          <button type="button" onClick={stop}>
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
