/** @jsxImportSource preact */
import type { SessionSummary } from "@moora/agent-webui-protocol";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { notify } from "./copy.tsx";
import { openAndFocus } from "./focus.ts";
import { createSession, needsToken, randomKey } from "./live-requests.ts";
import { timeText } from "./detail-panels.tsx";
import { isLive, openFile } from "./live-source.ts";
import { relativeTime } from "./relative-time.ts";
import { agents, isListCut, listed, waits } from "./session-list.ts";
import { stateClass } from "./state-colors.ts";
import { messageOf } from "./store.ts";
import { TokenForm } from "./token-form.tsx";
import { questionsText } from "./waiting-questions.ts";

/** What is shown before a session is open. */
export const StartScreen = (): JSX.Element => (
  <main class={isLive.value ? "start live-start" : "start"}>
    {isLive.value ? <Sessions /> : null}
    <div class="drop">
      <h2>Open a file</h2>
      <p>
        Drop an exported session here, or choose one. It does not leave this page.{" "}
        <code>moora export SESSION session.jsonl</code> makes one.
      </p>
      <label class={isLive.value ? "file button" : "file button primary"}>
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
    </div>
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
      <div class="sessions-head">
        <h2>Sessions of this server</h2>
        <NewSessions />
      </div>
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

/** A button for each agent, which creates a session of it and opens it. Pressed twice, it creates one. */
function NewSessions(): JSX.Element {
  const [key] = useState(randomKey);
  const create = async (agent: string): Promise<void> =>
    await openAndFocus(await createSession(agent, key), ".composer input");
  return (
    <div class="new-sessions">
      {agents.value.map((agent) => (
        <button
          key={agent}
          type="button"
          class="primary"
          onClick={() => void create(agent).catch((error: unknown) => notify(messageOf(error)))}
        >
          New session with {agent}
        </button>
      ))}
    </div>
  );
}

const SessionButton = ({ session }: { readonly session: SessionSummary }): JSX.Element => {
  const { id, agent, seq, updatedAt, title, state } = session;
  return (
    <button type="button" onClick={() => void openAndFocus(id, ".panels")}>
      <b>{title ?? id}</b>
      <span class="about">
        {title === undefined ? null : <code>{id}</code>} {agent}, {seq === 1 ? "1 record" : `${seq} records`}
      </span>
      <span class="status">
        {waits(session) ? <span class="badge open">{questionsText(state?.questions ?? 0)}</span> : null}
        {state === undefined ? null : (
          <span class={`pill ${stateClass(state.control)}`}>{state.control}</span>
        )}
      </span>
      {updatedAt === undefined ? null : (
        <time title={timeText(updatedAt)}>{relativeTime(updatedAt, Date.now())}</time>
      )}
    </button>
  );
};
