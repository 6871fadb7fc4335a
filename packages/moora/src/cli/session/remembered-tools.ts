import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { digestOf, type EventLog } from "@moora/event-log";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import type { LogPlace } from "./log-place.ts";

/** The module that a session was last run with by `--tools`. */
export interface RememberedTools {
  /** Absolute. */
  readonly path: string;
  /** SHA-256 of the module's own file, in hexadecimal. */
  readonly digest: string;
}

/** The module as it is now. Throws what keeps it from being read. */
export const toolsNow = (path: string): RememberedTools => ({
  path,
  digest: createHash("sha256").update(readFileSync(path)).digest("hex"),
});

/**
 * Remembers the tools of a session, in a small file beside its log: the log belongs to the agent, and must mean the same
 * on every machine, where the path of a module means nothing. Returns why it cannot be written, undefined when it was.
 */
export async function rememberTools(
  log: EventLog,
  { toolsFolder }: LogPlace,
  id: string,
  tools: RememberedTools,
): Promise<string | undefined> {
  const session = await sessionDigest(log, id);
  if (session === undefined) return undefined;
  const file = fileOf(toolsFolder, id);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    mkdirSync(toolsFolder, { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify({ id, session, ...tools })}\n`, { mode: 0o600 });
    renameSync(draft, file);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The remembered tools of a session. Undefined for a session that has none, was moved here, or is another one by now. */
export async function rememberedTools(
  log: EventLog,
  { toolsFolder }: LogPlace,
  id: string,
): Promise<RememberedTools | undefined> {
  const found = readRemembered(fileOf(toolsFolder, id));
  if (found === undefined || found.session !== (await sessionDigest(log, id))) return undefined;
  const { path, digest } = found;
  return { path, digest };
}

const fileOf = (folder: string, id: string): string =>
  join(folder, `${createHash("sha256").update(id).digest("hex").slice(0, 32)}.json`);

/** Distinguishes a session from an earlier one of the same id: each header contains a random part. */
async function sessionDigest(log: EventLog, id: string): Promise<string | undefined> {
  const session = await log.open(id);
  return session === undefined ? undefined : digestOf(session.header);
}

function readRemembered(file: string): (RememberedTools & { readonly session: string }) | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
  const value = textToJson(text);
  if (!isJsonObject(value)) return undefined;
  const { session, path, digest } = value;
  return typeof session === "string" && typeof path === "string" && typeof digest === "string"
    ? { session, path, digest }
    : undefined;
}
