import { refuse, shownValue } from "@moora/agent-core-effects/internal";
import { digestOf } from "@moora/event-log";

/** The maximum length of the name of a tool, which providers set. */
const maxLength = 64;
/** Characters of a digest: enough to distinguish the tools of one server. */
const digestLength = 8;

/** Throws `BuildError` for a name of a server that cannot begin the name of a tool. */
export function checkServerName(name: unknown): void {
  if (typeof name === "string" && /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/.test(name)) return;
  refuse(
    `name must have 1 to 32 letters, digits, "_" or "-", and begin with a letter or digit, got ${shownValue(name)}.`,
  );
}

/**
 * The name of a tool for the model: `files_read_file` for `read_file` of the server `files`. Characters that providers do not
 * take become `_`, and the end of a long name becomes a digest of it.
 */
export function toolNameOf(server: string, tool: string): string {
  const name = `${server}_${tool.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`;
  if (name.length <= maxLength) return name;
  return `${name.slice(0, maxLength - digestLength - 1)}_${digestOf(tool).slice(0, digestLength)}`;
}
