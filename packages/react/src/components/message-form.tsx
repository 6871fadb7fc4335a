import { useState, type JSX, type KeyboardEvent, type ReactNode } from "react";

/** The properties of `MessageForm`. */
export interface MessageFormProps {
  /** Sends a message. Resolves with why that was not accepted, and the text stays; undefined if it was. */
  readonly send: (text: string) => Promise<string | undefined>;
  /** Whether a message would arrive. Default: true. */
  readonly isConnected?: boolean;
  readonly placeholder?: string;
  /** Further controls. */
  readonly children?: ReactNode;
}

/** The field for a message. Enter sends it, Shift and Enter begin a line. A message that was refused stays, with the reason. */
export function MessageForm({
  send,
  isConnected = true,
  placeholder = "Message to the agent",
  children,
}: MessageFormProps): JSX.Element {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isSending, setSending] = useState(false);
  const isHeld = !isConnected || isSending;
  const submit = async (): Promise<void> => {
    if (isHeld || text.trim() === "") return;
    setSending(true);
    const refused = await send(text).catch((error: unknown) => String(error));
    setSending(false);
    setProblem(refused);
    if (refused === undefined) setText((now) => (now === text ? "" : now));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void submit();
  };
  return (
    <form
      className="moora-composer"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {problem === undefined ? null : (
        <p className="moora-problem" role="alert">
          {problem}
        </p>
      )}
      <textarea
        rows={1}
        value={text}
        aria-label="Message"
        placeholder={isConnected ? placeholder : "Connecting…"}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit" className="moora-primary" aria-disabled={isHeld}>
        Send
      </button>
      {children}
    </form>
  );
}
