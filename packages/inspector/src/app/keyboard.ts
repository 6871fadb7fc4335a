import { marks, type Mark } from "../session/marks.ts";
import { togglePin } from "./diff-panel.tsx";
import { isHelpOpen } from "./help-dialog.tsx";
import { jump } from "./jump.ts";
import { isChatOpen } from "./live-source.ts";
import { chosen, selectTab } from "./panels.tsx";
import { isSharing } from "./share-dialog.tsx";
import { count, goTo, goToMatch, phase, position, range, zoom } from "./store.ts";
import { toggleTheme } from "./theme.ts";
import { goToQuestions, waiting } from "./waiting-questions.ts";

/** Listens to the keys of the page. Keys in a text field are left to it. */
export function listenToKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]") !== null) return;
    if (handle(event)) event.preventDefault();
  });
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input:not([type=range]), textarea, select");

/** Whether a key means something. */
function handle(event: KeyboardEvent): boolean {
  const { key, shiftKey } = event;
  const always = anywhere[key];
  if (always !== undefined) {
    always();
    return true;
  }
  if (phase.value !== "open" || isChatOpen.value) return false;
  const step = stepOf(key);
  if (step !== undefined && !isTabList(event.target)) {
    goTo(position.value + step * (shiftKey ? 10 : 1));
    return true;
  }
  const mark = markKeys.get(key.toLowerCase());
  if (mark !== undefined) {
    jump(mark, shiftKey ? -1 : 1);
    return true;
  }
  const action = actions[key];
  action?.();
  if (action === undefined && /^[1-9]$/.test(key)) selectTab(Number(key) - 1);
  return action !== undefined || /^[1-9]$/.test(key);
}

const isTabList = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest("[role=tablist]") !== null;

function stepOf(key: string): 1 | -1 | undefined {
  if (key === "ArrowRight" || key === "ArrowDown") return 1;
  return key === "ArrowLeft" || key === "ArrowUp" ? -1 : undefined;
}

const markKeys: ReadonlyMap<string, Mark> = new Map(marks.map((mark) => [mark.charAt(0), mark]));

const anywhere: Readonly<Record<string, (() => void) | undefined>> = {
  "?": () => void (isHelpOpen.value = true),
  l: toggleTheme,
};

/** Shows the questions that wait, if there are any. */
function showQuestions(): void {
  if (waiting.value === 0) return;
  chosen.value = "conversation";
  goToQuestions();
}

const actions: Readonly<Record<string, (() => void) | undefined>> = {
  Home: () => goTo(0),
  End: () => goTo(count.value),
  "/": () => document.getElementById("search")?.focus(),
  n: () => goToMatch(1),
  N: () => goToMatch(-1),
  "+": () => zoom(0.5),
  "=": () => zoom(0.5),
  "-": () => zoom(2),
  "0": () => void (range.value = undefined),
  p: togglePin,
  q: showQuestions,
  s: () => void (isSharing.value = true),
};
