import { useEffect } from "preact/hooks";
import { openLive } from "./live-source.ts";
import { isChat } from "./store.ts";

/** Opens a session of the server. Focuses the first element of a selector after the next render, if the focused element has gone. */
export async function openAndFocus(id: string, selector: string): Promise<void> {
  await openLive(id);
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) document.querySelector<HTMLElement>(selector)?.focus();
  });
}

/** Opens a session of the server as a chat, with the focus in its field for a message. */
export async function openChat(id: string): Promise<void> {
  isChat.value = true;
  await openAndFocus(id, ".moora-composer textarea");
}

/**
 * Moves the focus of the keyboard within an element if its control is removed or disabled: to the first of these selectors that an
 * element has. What the user types next would be shortcuts of the page otherwise.
 */
export function useKeptFocus(
  root: { readonly current: HTMLElement | null },
  selectors: readonly string[],
): void {
  useEffect(() => {
    const element = root.current;
    if (element === null) return;
    let focused: HTMLElement | undefined;
    const onFocus = ({ target }: FocusEvent): void => {
      focused = target instanceof HTMLElement && target.matches(":focus-visible") ? target : undefined;
    };
    // Enter is also pressed on what a click has focused.
    const onKey = ({ target }: KeyboardEvent): void => {
      if (target instanceof HTMLElement) focused = target;
    };
    // A blur is the choice of the user if its control still takes the focus when the change of the page is complete.
    const onBlur = ({ target }: FocusEvent): void =>
      queueMicrotask(() => {
        if (target === focused && focused !== undefined && isUsable(focused)) focused = undefined;
      });
    const restore = (): void => {
      if (focused === undefined || isUsable(focused)) return;
      const { activeElement } = document;
      if (activeElement !== document.body && activeElement !== focused) return;
      const next = selectors.map((selector) => element.querySelector<HTMLElement>(selector));
      next.find((found) => found !== null)?.focus();
    };
    const observer = new MutationObserver(restore);
    observer.observe(element, { childList: true, subtree: true, attributeFilter: ["disabled"] });
    element.addEventListener("focusin", onFocus);
    element.addEventListener("focusout", onBlur);
    element.addEventListener("keydown", onKey);
    return () => {
      observer.disconnect();
      element.removeEventListener("focusin", onFocus);
      element.removeEventListener("focusout", onBlur);
      element.removeEventListener("keydown", onKey);
    };
  }, []);
}

const isUsable = (element: HTMLElement): boolean => element.isConnected && !element.matches(":disabled");
