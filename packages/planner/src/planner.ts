import {
  noUsage,
  type LlmCallOptions,
  type LlmCaller,
  type LlmOutcome,
  type LlmPart,
  type LlmRequest,
} from "@moora/llm";
import { chunkFeed, failedOutcome, failureOf } from "@moora/llm/adapter";
import { nextTurn, type NextTurn } from "./next-turn.ts";

/** The `origin` of the turns of a planner. */
export const plannerOrigin = "moora/planner";

/**
 * A deterministic stand-in for a language model. It calls the tools that a request names, with the numbers, quotes, names and paths
 * beside the name, and answers by quoting the results. It needs no network and costs nothing; use it for demos, tests and hosts
 * without a model. `callSync` returns the same outcome without a promise.
 */
export class Planner implements LlmCaller {
  readonly name: string = "planner";

  async call(request: LlmRequest, options: LlmCallOptions = {}): Promise<LlmOutcome> {
    if (options.signal?.aborted === true) return aborted("");
    const outcome = this.callSync(request);
    return outcome.ok ? await streamed(outcome, options) : outcome;
  }

  callSync(request: LlmRequest): LlmOutcome {
    try {
      return turnToOutcome(nextTurn(request));
    } catch (error) {
      return failedOutcome(failureOf("unknown", `The planner failed: ${String(error)}`));
    }
  }
}

/** Creates a planner, to use in place of a model: `defineAgent({ llm: planner(), tools })`. */
export const planner = (): Planner => new Planner();

type Answered = Extract<LlmOutcome, { ok: true }>;

function turnToOutcome(turn: NextTurn): LlmOutcome {
  if (turn.type === "refusal") return failedOutcome(failureOf("invalid-request", turn.reason));
  const parts: readonly LlmPart[] =
    turn.type === "answer"
      ? [{ type: "text", text: turn.text.toWellFormed() }]
      : turn.calls.map(({ name, values, step }, index) => ({
          type: "tool-call",
          id: `call_${index + 1}`,
          name,
          arguments: JSON.stringify(values).toWellFormed(),
          raw: { step },
        }));
  const finish = turn.type === "answer" ? "stop" : "tool-calls";
  return {
    ok: true,
    turn: { origin: plannerOrigin, parts },
    model: "planner",
    usage: noUsage,
    finish: { unified: finish, raw: finish },
  };
}

const aborted = (partial: string): LlmOutcome =>
  failedOutcome(failureOf("aborted", "The call was aborted."), partial);

/** Reports the turn as chunks, one word per macrotask, as a model does. */
async function streamed(outcome: Answered, { onChunk, signal }: LlmCallOptions): Promise<LlmOutcome> {
  const feed = chunkFeed(onChunk);
  let text = "";
  for (const [index, part] of outcome.turn.parts.entries()) {
    if (part.type === "tool-call") {
      feed.toolCall(part.name, index, part.id);
      feed.toolArguments(part.arguments, index);
    }
    for (const word of part.type === "text" ? part.text.split(/(?<=\s)(?=\S)/) : []) {
      await Promise.resolve();
      if (signal?.aborted === true) {
        feed.end();
        return aborted(text);
      }
      feed.text(word, index);
      text += word;
    }
    feed.endPart(index);
  }
  return outcome;
}
