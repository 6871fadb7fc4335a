import type { AgentAttachment } from "@moora/agent-core-state-machine";
import type {
  LlmContent,
  LlmFile,
  LlmMessage,
  LlmPart,
  LlmRequest,
  LlmToolResult,
  LlmTurn,
} from "@moora/llm";
import { refersToFiles } from "../request/file-references.ts";

/** Where a host keeps the bytes of files, so that logs contain their URLs only. */
export interface HostFiles {
  /** Returns the file for the log: the same one, or one with the URL of its stored bytes. */
  readonly store: (file: AgentAttachment) => AgentAttachment | Promise<AgentAttachment>;
  /** Returns the file for a request: the same one, or one with its bytes as data. Undefined if the bytes are missing. */
  readonly load: (file: LlmFile) => LlmFile | undefined | Promise<LlmFile | undefined>;
}

/** The files of a result for the log. */
export const storedFiles = (
  files: readonly AgentAttachment[],
  { store }: HostFiles,
): Promise<readonly AgentAttachment[]> => Promise.all(files.map(async (file) => await store(file)));

/** A turn of a model for the log: its files have URLs where the host stores their bytes. */
export async function turnToStore(
  turn: LlmTurn,
  files: HostFiles,
  toAttachment: (file: LlmFile) => AgentAttachment,
): Promise<LlmTurn> {
  const parts = turn.parts.map(async (part): Promise<LlmPart> =>
    part.type === "file" ? { ...part, file: await files.store(toAttachment(part.file)) } : part,
  );
  return { ...turn, parts: await Promise.all(parts) };
}

/** The request with the bytes of its files. A text stands in place of a file whose bytes are missing. */
export async function requestWithFiles(request: LlmRequest, { load }: HostFiles): Promise<LlmRequest> {
  const loading = new Map<string, Promise<LlmFile | undefined>>();
  /** Each file is loaded once, also if it occurs several times. */
  const loadOnce = (file: LlmFile): Promise<LlmFile | undefined> => {
    const key = JSON.stringify(file);
    const known = loading.get(key) ?? (async () => await load(file))();
    loading.set(key, known);
    return known;
  };
  const messages = request.messages.map(async (message) =>
    refersToFiles(message) ? await messageWithFiles(message, loadOnce) : message,
  );
  return { ...request, messages: await Promise.all(messages) };
}

type Load = (file: LlmFile) => Promise<LlmFile | undefined>;

async function messageWithFiles(message: LlmMessage, load: Load): Promise<LlmMessage> {
  switch (message.role) {
    case "note":
      return message;
    case "user":
      return {
        ...message,
        content: await Promise.all(message.content.map((piece) => contentWith(piece, load))),
      };
    case "assistant": {
      const { turn } = message;
      const parts = await Promise.all(turn.parts.map((part) => partWith(part, load)));
      const results = await Promise.all(message.results.map((result) => resultWith(result, load)));
      return { ...message, turn: { ...turn, parts }, results };
    }
  }
}

const missingText = ({ mediaType, name }: LlmFile): string =>
  `(File not found: ${name === undefined ? mediaType : `${name} (${mediaType})`}.)`;

async function contentWith(piece: LlmContent, load: Load): Promise<LlmContent> {
  if (piece.type !== "file") return piece;
  const file = await load(piece.file);
  return file === undefined ? { type: "text", text: missingText(piece.file) } : { type: "file", file };
}

async function partWith(part: LlmPart, load: Load): Promise<LlmPart> {
  if (part.type !== "file") return part;
  const file = await load(part.file);
  return file === undefined ? { type: "text", text: missingText(part.file) } : { ...part, file };
}

async function resultWith(result: LlmToolResult, load: Load): Promise<LlmToolResult> {
  const { files } = result;
  if (files === undefined) return result;
  const loaded = await Promise.all(files.map(async (file) => ({ file, found: await load(file) })));
  const missing = loaded.flatMap(({ file, found }) => (found === undefined ? [missingText(file)] : []));
  return {
    ...result,
    content: [result.content, ...missing].join("\n"),
    files: loaded.flatMap(({ found }) => found ?? []),
  };
}
