import type { LlmContent, LlmFile, LlmMessage, LlmPart, LlmToolResult } from "./request.ts";

/** Where a file of a request is. Those of a turn were made by its model. */
export type FilePlace = "message" | "turn" | "result" | "failed-result";

/** A message whose files are those that `map` returns. A text is put in place of a file. */
export function mapFiles(
  message: LlmMessage,
  map: (file: LlmFile, place: FilePlace) => LlmFile | string,
): LlmMessage {
  if (message.role === "note") return message;
  if (message.role === "user") {
    const content = message.content.map((piece): LlmContent => {
      if (piece.type !== "file") return piece;
      const file = map(piece.file, "message");
      return typeof file === "string" ? { type: "text", text: file } : { type: "file", file };
    });
    return { ...message, content };
  }
  const parts = message.turn.parts.map((part): LlmPart => {
    if (part.type !== "file") return part;
    const file = map(part.file, part.raw === undefined ? "message" : "turn");
    return typeof file === "string" ? { type: "text", text: file } : { ...part, file };
  });
  const results = message.results.map((result): LlmToolResult => {
    if (result.files === undefined) return result;
    const files = result.files.map((file) => map(file, result.isError ? "failed-result" : "result"));
    const content = [result.content, ...files.filter((file) => typeof file === "string")].join("\n");
    return { ...result, content, files: files.filter((file) => typeof file !== "string") };
  });
  return { ...message, turn: { ...message.turn, parts }, results };
}
