/** @jsxImportSource preact */
import { effect } from "@preact/signals";
import { render, type JSX } from "preact";
import { ChatScreen } from "./chat-screen.tsx";
import { Notice } from "./copy.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { listenToKeys } from "./keyboard.ts";
import { QuestionStatus } from "./live-panel.tsx";
import { beginLive, closeLive, isChatOpen, isLive, liveId, openFile, openLive } from "./live-source.ts";
import { hashToLink, linkToHash, pageText } from "./page-data.ts";
import { chosen, Panels } from "./panels.tsx";
import { ShareDialog } from "./share-dialog.tsx";
import { escapeAllTexts } from "./shown-text.ts";
import { StartScreen } from "./start-screen.tsx";
import { count, expected, goTo, isChat, openSession, phase, position, problem } from "./store.ts";
import { followTheme } from "./theme.ts";
import { Timeline } from "./timeline.tsx";
import { ExpiredToken } from "./token-form.tsx";
import { Problems, TopBar } from "./top-bar.tsx";
import { followQuestions } from "./waiting-questions.ts";

const App = (): JSX.Element => (
  <>
    <TopBar />
    <Problems />
    <ExpiredToken />
    <Opening />
    {isChatOpen.value ? <ChatScreen /> : null}
    {phase.value === "open" && !isChatOpen.value ? (
      <>
        <Timeline />
        <Panels />
      </>
    ) : null}
    {phase.value === "start" ? <StartScreen /> : null}
    <HelpDialog />
    <ShareDialog />
    <Notice />
    <QuestionStatus />
  </>
);

const Opening = (): JSX.Element | null =>
  phase.value === "opening" ? (
    <main class="opening">
      <p>
        Reading {count.value.toLocaleString("en-US")} of {expected.value.toLocaleString("en-US")} records…
      </p>
      <progress value={count.value} max={Math.max(expected.value, 1)} aria-label="Reading" />
    </main>
  ) : null;

/** Opens a file that is dropped anywhere on the page. */
function acceptDrops(): void {
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) document.body.classList.remove("dragging");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dragging");
    const file = event.dataTransfer?.files[0];
    if (file !== undefined) void openFile(file);
  });
}

const linkDelayMs = 150;

/** Keeps the address in step with the session and the position, and follows links to others. Each session is an entry of the history. */
function followLinks(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const hash = linkToHash({
      session: liveId.value,
      at: position.value,
      tab: chosen.value,
      isChat: isChatOpen.value,
    });
    const session = liveId.value;
    const wasChat = hashToLink(location.hash).isChat;
    clearTimeout(timer);
    if (phase.value !== "open") return;
    // Browsers limit how often an address may change.
    timer = setTimeout(() => {
      const isOther = hashToLink(location.hash).session !== session;
      history[isOther || wasChat !== isChatOpen.peek() ? "pushState" : "replaceState"](null, "", hash);
    }, linkDelayMs);
  });
  addEventListener("hashchange", () => {
    const { at, session, tab, isChat: asChat } = hashToLink(location.hash);
    clearTimeout(timer);
    isChat.value = asChat;
    if (tab !== undefined) chosen.value = tab;
    if (isLive.value && session !== liveId.value)
      void (session === undefined ? closeLive() : openLive(session, at));
    else if (at !== undefined && phase.value === "open") goTo(at);
  });
}

async function begin(): Promise<void> {
  const { at, session, tab, isChat: asChat } = hashToLink(location.hash);
  isChat.value = asChat;
  if (tab !== undefined) chosen.value = tab;
  isLive.value = document.documentElement.dataset["live"] === "true";
  const log = pageText("moora-log");
  if (log !== undefined) await openSession(log, at);
  const known = pageText("moora-problem");
  if (known !== undefined) problem.value = String(JSON.parse(known));
  if (isLive.value) await beginLive({ session, at });
}

escapeAllTexts();
followTheme();
listenToKeys();
acceptDrops();
followLinks();
followQuestions();
render(<App />, document.body);
void begin();
