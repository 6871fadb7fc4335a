/** The text of an element that carries data of the page; undefined if the page has none. */
export const pageText = (id: string): string | undefined =>
  document.getElementById(id)?.textContent ?? undefined;

/** The position that an address names, such as `#at=12&tab=state`. */
export interface Link {
  readonly session: string | undefined;
  readonly at: number | undefined;
  readonly tab: string | undefined;
  /** Whether the session is shown as a chat. */
  readonly isChat: boolean;
}

/** Reads the part of an address after `#`. */
export function hashToLink(hash: string): Link {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const at = fields.get("at");
  return {
    session: fields.get("session") ?? undefined,
    at: at !== null && /^\d{1,15}$/.test(at) ? Number(at) : undefined,
    tab: fields.get("tab") ?? undefined,
    isChat: fields.get("view") === "chat",
  };
}

/** The part of an address after `#` that names a position. */
export function linkToHash({ session, at, tab, isChat }: Link): string {
  const fields = new URLSearchParams();
  if (session !== undefined) fields.set("session", session);
  if (isChat) fields.set("view", "chat");
  else if (at !== undefined) fields.set("at", String(at));
  if (tab !== undefined && !isChat) fields.set("tab", tab);
  return `#${fields.toString()}`;
}
