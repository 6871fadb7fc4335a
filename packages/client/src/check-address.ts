import { refuse, shownValue } from "@moora/agent-core-effects/internal";

/**
 * Throws `BuildError` for an address that no request can be sent to. `mayBeRelative`: there is a page, or a `fetch` of the caller,
 * that resolves a path. `caller` is the function with the address. The message has no address that may contain credentials: messages are printed.
 */
export function checkAddress(caller: string, url: string, mayBeRelative: boolean): void {
  if (URL.canParse(url)) return checkParts(caller, new URL(url));
  const isPath = url === "" || url.startsWith("/");
  if (isPath && mayBeRelative) return;
  const advice = isPath
    ? "Only a page can use a path. Give the whole address."
    : `It must be such as "https://agents.example.com/api", or in a page a path such as "/api".`;
  refuse(`url of ${caller} is not an address${shownAddress(url)}. ${advice}`);
}

function checkParts(caller: string, { protocol, username, password, search, hash }: URL): void {
  if (protocol !== "http:" && protocol !== "https:")
    refuse(`url of ${caller} must begin with http: or https:, got ${shownValue(protocol)}.`);
  if (username !== "" || password !== "")
    refuse(`url of ${caller} must not contain credentials. Give them as headers.`);
  if (search !== "" || hash !== "")
    refuse(`url of ${caller} must not contain a query or a fragment: the routes follow it.`);
}

const shownAddress = (url: string): string => (/[@?#]/.test(url) ? "" : `: ${shownValue(url)}`);

/** Throws `BuildError` for a header that cannot be sent. Values are not in its message. */
export function checkHeaders(caller: string, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (canSend(name, value)) continue;
    refuse(
      canSend(name, "x")
        ? `The value of the header ${shownValue(name)} of ${caller} cannot be sent: it has a line end or a character above U+00FF.`
        : `headers of ${caller} has the name ${shownValue(name)}, which no header can have.`,
    );
  }
}

function canSend(name: string, value: string): boolean {
  try {
    return new Headers({ [name]: value }).has(name);
  } catch {
    return false;
  }
}
