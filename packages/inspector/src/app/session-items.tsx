/** @jsxImportSource preact */
import type { SessionSummary } from "@moora/agent-webui-protocol";
import type { JSX } from "preact";
import { timeText } from "./detail-panels.tsx";
import { openChat } from "./focus.ts";
import { liveId } from "./live-source.ts";
import { relativeTime } from "./relative-time.ts";
import { isListCut, listed, sought, soughtSessions, waits } from "./session-list.ts";
import { stateClass } from "./state-colors.ts";
import { questionsText } from "./waiting-questions.ts";

/** The sessions of the user, with a search in them. A press opens one. */
export const SessionItems = (): JSX.Element => (
  <>
    {(listed.value ?? []).length < 2 ? null : (
      <input
        type="search"
        value={sought.value}
        aria-label="Search sessions"
        placeholder="Search sessions"
        onInput={(event) => void (sought.value = event.currentTarget.value)}
      />
    )}
    <Sessions sessions={soughtSessions.value} />
    {isListCut.value ? (
      <p class="empty">The server has more sessions. Open others by their address: #session=ID.</p>
    ) : null}
  </>
);

function Sessions({ sessions }: { readonly sessions: readonly SessionSummary[] | undefined }): JSX.Element {
  if (sessions === undefined) return <p class="empty">Loading…</p>;
  if (sessions.length === 0)
    return <p class="empty">{sought.value === "" ? "There is no session yet." : "No session matches."}</p>;
  return (
    <ul>
      {sessions.map((session) => (
        <li key={session.id}>
          <SessionButton session={session} />
        </li>
      ))}
    </ul>
  );
}

function SessionButton({ session }: { readonly session: SessionSummary }): JSX.Element {
  const { id, agent, seq, updatedAt, title, state, cost } = session;
  return (
    <button
      type="button"
      aria-current={id === liveId.value ? "true" : undefined}
      onClick={() => void openChat(id)}
    >
      <b>{title ?? id}</b>
      <span class="about">
        {agent}, {seq === 1 ? "1 record" : `${seq} records`}
        {cost === undefined ? "" : `, ${costText(cost)}`}
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
}

/** A cost in the currency of the prices of the agent, with three digits that count. */
const costText = (cost: number): string => `cost ${Number(cost.toPrecision(3))}`;
