import type { LlmFile, LlmMessage } from "@moora/llm";

/** Whether a message contains a file that is neither data nor a data URL, so that its bytes may be in a store. */
export const refersToFiles = (message: LlmMessage): boolean => filesIn(message).some(isReference);

const isReference = (file: LlmFile): boolean => "url" in file && !file.url.startsWith("data:");

function filesIn(message: LlmMessage): readonly LlmFile[] {
  switch (message.role) {
    case "note":
      return [];
    case "user":
      return message.content.flatMap((piece) => (piece.type === "file" ? [piece.file] : []));
    case "assistant": {
      const made = message.turn.parts.flatMap((part) => (part.type === "file" ? [part.file] : []));
      return [...made, ...message.results.flatMap(({ files = [] }) => files)];
    }
  }
}
