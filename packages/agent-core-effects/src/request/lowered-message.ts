import { hasFilesLeftOut, type Ladder } from "@moora/agent-core-state-machine/internal";
import type { LlmMessage, LlmPart } from "@moora/llm";
import { fileToName, mapFiles } from "@moora/llm/internal";

/** A message on the rung of the ladder that requests to the model are on: without what its provider has refused. */
export function loweredMessage(
  message: LlmMessage,
  index: number,
  { ladder, newestTurn }: { readonly ladder: Ladder; readonly newestTurn: number },
): LlmMessage {
  const isNeutral = ladder.raw === "all" || (ladder.raw === "earlier" && index < newestTurn);
  const neutral = isNeutral && message.role === "assistant" ? neutralMessage(message) : message;
  return hasFilesLeftOut(ladder, index) ? mapFiles(neutral, fileToName) : neutral;
}

/** A turn without what only its origin can read: a turn of no origin. */
function neutralMessage({ turn, ...message }: Extract<LlmMessage, { role: "assistant" }>): LlmMessage {
  const parts = turn.parts.flatMap((part): readonly LlmPart[] => {
    if (part.type === "reasoning" || part.type === "opaque") return [];
    const { raw: _, ...rest } = part;
    return [rest];
  });
  return { ...message, turn: { origin: "", parts } };
}
