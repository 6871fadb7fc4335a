/** @jsxImportSource preact */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isTokenRefused, needsToken } from "./live-requests.ts";
import { isLive, liveId, useToken } from "./live-source.ts";

/** Asks for the token that requests are sent with. */
export function TokenForm(): JSX.Element {
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const isRefused = isTokenRefused.value;
  useEffect(() => {
    if (isRefused) field.current?.select();
  }, [isRefused]);
  return (
    <form
      class="token"
      onSubmit={(event) => {
        event.preventDefault();
        void useToken(text);
      }}
    >
      <label>
        Bearer token
        <input
          ref={field}
          type="password"
          autocomplete="off"
          aria-invalid={isRefused}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary">
        Use this token
      </button>
      <button type="button" onClick={() => void useToken()}>
        Try again
      </button>
      {isRefused ? (
        <p class="form-problem" role="alert">
          The server refused this token. Enter another one.
        </p>
      ) : null}
    </form>
  );
}

/** Asks for another token while a session of the server is open. */
export const ExpiredToken = (): JSX.Element | null =>
  isLive.value && liveId.value !== undefined && needsToken.value ? (
    <div class="problems" role="alert">
      <p>The server no longer accepts this page as its user. Sign in again, or enter a new token.</p>
      <TokenForm />
    </div>
  ) : null;
