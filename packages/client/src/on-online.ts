/** Calls back when a browser is online again. Returns a function that stops this. Elsewhere it does nothing. */
export function onOnline(listener: () => void): () => void {
  const target: unknown = globalThis;
  if (!(target instanceof EventTarget)) return () => undefined;
  target.addEventListener("online", listener);
  return () => target.removeEventListener("online", listener);
}
