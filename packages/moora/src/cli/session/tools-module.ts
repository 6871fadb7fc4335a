import { errorText } from "@moora/agent-core-effects/internal";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { digestOf, type EventLog } from "@moora/event-log";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import type { LogTarget } from "./log-target.ts";

/** The module that a session last used with `--tools`. */
export interface ToolsModule {
  /** Absolute. */
  readonly path: string;
  /** SHA-256 of the module's own file, in hexadecimal. */
  readonly digest: string;
}

/** The module in its current version. Throws if it cannot be read. */
export const toolsModuleAt = (path: string): ToolsModule => ({
  path,
  digest: createHash("sha256").update(readFileSync(path)).digest("hex"),
});

/**
 * Stores the tools module of a session in a small file next to its log. It is not in the log, which must be valid on every
 * machine. Returns the reason if it cannot be written, otherwise undefined.
 */
export async function saveToolsModule(
  log: EventLog,
  { toolsFolder }: LogTarget,
  id: string,
  tools: ToolsModule,
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
    return errorText(error);
  }
}

/** The stored tools module of a session. Undefined if there is none, or if it belongs to an earlier session of the same id. */
export async function readToolsModule(
  log: EventLog,
  { toolsFolder }: LogTarget,
  id: string,
): Promise<ToolsModule | undefined> {
  const found = readFile(fileOf(toolsFolder, id));
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

function readFile(file: string): (ToolsModule & { readonly session: string }) | undefined {
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
