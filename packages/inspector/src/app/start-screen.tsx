/** @jsxImportSource preact */
import type { SessionSummary } from "@moora/agent-webui-protocol";
import type { JSX } from "preact";
import { openAndFocus } from "./focus.ts";
import { needsToken } from "./live-requests.ts";
import { timeText } from "./detail-panels.tsx";
import { isLive, openFile } from "./live-source.ts";
import { relativeTime } from "./relative-time.ts";
import { isListCut, listed } from "./session-list.ts";
import { TokenForm } from "./token-form.tsx";

/** What is shown before a session is open. */
export const StartScreen = (): JSX.Element => (
  <main class="start">
    <div class="drop">
      <h2>Open a session</h2>
      <p>Drop an exported session here, or choose one. It does not leave this page.</p>
      <label class="file button primary">
        Choose a file
        <input
          type="file"
          accept=".jsonl"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file !== undefined) void openFile(file);
          }}
        />
      </label>
      <p>
        <code>moora export SESSION session.jsonl</code>
      </p>
    </div>
    {isLive.value ? <Sessions /> : null}
  </main>
);

function Sessions(): JSX.Element {
  if (needsToken.value) {
    return (
      <section class="sessions">
        <h2>Authentication is required</h2>
        <TokenForm />
      </section>
    );
  }
  const sessions = listed.value;
  return (
    <section class="sessions" aria-label="Sessions of this server">
      <h2>Sessions of this server</h2>
      {sessions === undefined ? <p>Loading…</p> : null}
      {sessions?.length === 0 ? <p class="empty">There is no session yet.</p> : null}
      <ul>
        {(sessions ?? []).map((session) => (
          <li key={session.id}>
            <SessionButton session={session} />
          </li>
        ))}
      </ul>
      {isListCut.value ? (
        <p class="empty">The server has more sessions. Open others by their address: #session=ID.</p>
      ) : null}
    </section>
  );
}

const SessionButton = ({ session }: { readonly session: SessionSummary }): JSX.Element => {
  const { id, agent, seq, updatedAt } = session;
  return (
    <button type="button" onClick={() => void openAndFocus(id, ".panels")}>
      <b>{id}</b>
      <span>{agent}</span>
      <span>{seq} records</span>
      {updatedAt === undefined ? null : (
        <time title={timeText(updatedAt)}>{relativeTime(updatedAt, Date.now())}</time>
      )}
    </button>
  );
};
