/** @jsxImportSource preact */
import { isJsonObject, textToJson } from "@moora/llm/internal";
import type { JSX } from "preact";
import { openAndFocus } from "./focus.ts";
import { isHelpOpen } from "./help-dialog.tsx";
import { isChatOpen, isLive, liveId, liveStatus, openFile, showStart } from "./live-source.ts";
import { listed, listSessions } from "./session-list.ts";
import { control } from "./live-panel.tsx";
import { isSharing } from "./share-dialog.tsx";
import { stateClass } from "./state-colors.ts";
import {
  count,
  find,
  firstDamage,
  goTo,
  goToMatch,
  isChat,
  matches,
  phase,
  position,
  problem,
  session,
  typed,
  view,
} from "./store.ts";
import { isDark, toggleTheme } from "./theme.ts";

/** The name of the session, its state, the search and the actions. */
export const TopBar = (): JSX.Element => (
  <header class="top">
    <h1>
      <Logo />
      <span title={session.value?.id ?? ""}>{titleOf(session.value?.id) ?? "Moora"}</span>
    </h1>
    {session.value === undefined ? null : (
      <span class="agent">
        {session.value.agent}
        {session.value.parent === undefined
          ? ""
          : `, fork of ${session.value.parent.id} at ${session.value.parent.seq}`}
      </span>
    )}
    {view.value === undefined ? null : (
      <span class={`pill ${stateClass(view.value.control)}`}>{view.value.control}</span>
    )}
    {view.value?.paused == null ? null : <span class="badge open">paused</span>}
    <LiveState />
    <div class="tools">
      {phase.value === "open" && !isChatOpen.value ? <Search /> : null}
      <Rename />
      <Views />
      <Actions />
    </div>
  </header>
);

/** The title of a session as the list has it; its id if it has none. */
const titleOf = (id: string | undefined): string | undefined =>
  listed.value?.find((each) => each.id === id)?.title ?? id;

/** The mark of Moora: three states and the way between them. */
const Logo = (): JSX.Element => (
  <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
    <path d="M5 17 L9 7 L14 15 L19 6" />
    <circle cx="5" cy="17" r="2.6" />
    <circle cx="14" cy="15" r="2.6" />
    <circle cx="19" cy="6" r="2.6" />
  </svg>
);

const LiveState = (): JSX.Element | null =>
  isLive.value && liveId.value !== undefined ? (
    <>
      <span class={liveStatus.value === "live" ? "live on" : "live"}>{liveStatus.value}</span>
      {liveStatus.value === "ended" ? <LoadAgain id={liveId.value} /> : null}
      <select
        aria-label="Session"
        value={liveId.value}
        onFocus={() => void listSessions()}
        onChange={({ currentTarget: { value } }) => {
          if (value === "") showStart();
          else void openChosenSession(value);
        }}
      >
        <option value="">All sessions</option>
        {[...titlesWith(liveId.value)].map(([id, title]) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
    </>
  ) : null;

/** The titles of the listed sessions, and of one that may not be listed yet, by their ids. */
const titlesWith = (id: string): ReadonlyMap<string, string> =>
  new Map([[id, id], ...(listed.value ?? []).map((each) => [each.id, each.title ?? each.id] as const)]);

const openChosenSession = (id: string): Promise<void> => openAndFocus(id, ".top select");

const LoadAgain = ({ id }: { readonly id: string }): JSX.Element => (
  <button type="button" onClick={() => void openChosenSession(id)}>
    Load it again
  </button>
);

function Search(): JSX.Element {
  const found = matches.value;
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }): void => {
    if (event.key === "Enter") goToMatch(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      void find("");
      event.currentTarget.blur();
    }
  };
  return (
    <div class={found === undefined ? "search" : "search found"} role="search">
      <input
        id="search"
        type="search"
        value={typed.value}
        placeholder="Search, or is:failure tool:NAME"
        aria-label="Search"
        onInput={(event) => void find(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <output>
        {found === undefined
          ? ""
          : `${found.filter((seq) => seq <= position.value).length} / ${found.length}`}
      </output>
    </div>
  );
}

/** Gives the session another title, where its application data has one. */
function Rename(): JSX.Element | null {
  const json = isChatOpen.value ? view.value?.data?.json : undefined;
  const title = json === undefined ? undefined : titleIn(json);
  if (title === undefined) return null;
  const rename = async (): Promise<void> => {
    const value = prompt("Title of this session", title);
    if (value === null) return;
    await control("data", { patches: [{ op: "replace", path: "/title", value }] });
    await listSessions();
  };
  return (
    <button type="button" onClick={() => void rename()}>
      Rename
    </button>
  );
}

/** The title in application data; undefined without one, and in data that is too long to show. */
function titleIn(json: string): string | undefined {
  const data = textToJson(json);
  const title = isJsonObject(data) ? data["title"] : undefined;
  return typeof title === "string" ? title : undefined;
}

/** The two views of a session of the server. */
const Views = (): JSX.Element | null =>
  phase.value !== "open" || liveId.value === undefined ? null : (
    <div class="group views" role="group" aria-label="View">
      <button type="button" aria-pressed={isChatOpen.value} onClick={showChat}>
        Chat
      </button>
      <button type="button" aria-pressed={!isChatOpen.value} onClick={() => void (isChat.value = false)}>
        Inspect
      </button>
    </div>
  );

function showChat(): void {
  isChat.value = true;
  goTo(count.value);
}

const moon = "M16 12.5A7 7 0 0 1 7.5 4a6.6 6.6 0 1 0 8.5 8.5z";
const sun =
  "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v1M10 17v1M2 10h1M17 10h1M4.3 4.3l.7.7M15 15l.7.7M15.7 4.3l-.7.7M5 15l-.7.7";

const Actions = (): JSX.Element => (
  <div class="group">
    {isChatOpen.value ? null : (
      <>
        <label class="file button">
          Open
          <input type="file" accept=".jsonl" onChange={(event) => void openChosen(event.currentTarget)} />
        </label>
        <button type="button" disabled={phase.value !== "open"} onClick={() => void (isSharing.value = true)}>
          Share
        </button>
      </>
    )}
    <button
      type="button"
      aria-label={isDark.value ? "Light" : "Dark"}
      title="Light or dark (l)"
      onClick={toggleTheme}
    >
      <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
        <path class={isDark.value ? "outline" : ""} d={isDark.value ? sun : moon} />
      </svg>
    </button>
    <button type="button" aria-label="Keys" title="Keys (?)" onClick={() => void (isHelpOpen.value = true)}>
      ?
    </button>
  </div>
);

async function openChosen(input: HTMLInputElement): Promise<void> {
  const file = input.files?.[0];
  if (file === undefined) return;
  await openFile(file);
  // The same file can be chosen again.
  input.value = "";
}

/** What is wrong with the session. */
export const Problems = (): JSX.Element | null =>
  problem.value === undefined && firstDamage.value === undefined ? null : (
    <div class="problems" role="alert">
      {problem.value === undefined ? null : <p>{problem.value}</p>}
      {firstDamage.value === undefined ? null : (
        <p>
          Record {firstDamage.value} was changed, or changes the state in another way than when it was
          written.{" "}
          <button type="button" onClick={() => goTo(firstDamage.value ?? 0)}>
            Go to record {firstDamage.value}
          </button>
        </p>
      )}
    </div>
  );
