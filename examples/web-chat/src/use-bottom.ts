import { useEffect, useRef, type RefObject } from "react";

/** Keeps a list at its end while it grows, unless its reader has scrolled up. */
export function useBottom(): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    let isAtEnd = true;
    const onScroll = (): void => {
      isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
    };
    const observer = new MutationObserver(() => {
      if (isAtEnd) element.scrollTop = element.scrollHeight;
    });
    element.addEventListener("scroll", onScroll);
    observer.observe(element, { childList: true, subtree: true, characterData: true });
    return () => {
      element.removeEventListener("scroll", onScroll);
      observer.disconnect();
    };
  }, []);
  return list;
}
