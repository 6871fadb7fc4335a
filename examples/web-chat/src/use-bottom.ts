import { useEffect, useRef, type RefObject } from "react";

/** Keeps a list at its end while it grows or gets another size, unless its reader has scrolled up. */
export function useBottom(): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    let isAtEnd = true;
    const onScroll = (): void => {
      isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
    };
    const follow = (): void => {
      if (isAtEnd) element.scrollTop = element.scrollHeight;
    };
    const observer = new MutationObserver(follow);
    const sizes = new ResizeObserver(follow);
    sizes.observe(element);
    element.addEventListener("scroll", onScroll);
    observer.observe(element, { childList: true, subtree: true, characterData: true });
    return () => {
      element.removeEventListener("scroll", onScroll);
      observer.disconnect();
      sizes.disconnect();
    };
  }, []);
  return list;
}
