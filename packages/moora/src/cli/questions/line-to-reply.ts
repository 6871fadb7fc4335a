import type { Decision, Question } from "@moora/agent";
import { textToJson } from "@moora/llm/internal";
import { editableArguments } from "./question-text.ts";

/** The meaning of a line as a reply to a question. */
export type Reply =
  /** The decisions that the line may mean, most likely first: the first that fits the question counts. */
  | {
      readonly type: "decide";
      readonly decisions: readonly [Decision, ...Decision[]];
      readonly always?: true;
    }
  /** One more line is needed. */
  | {
      readonly type: "ask";
      readonly prompt: string;
      readonly prefill: string;
      readonly toReply: (line: string) => Reply;
    }
  | { readonly type: "invalid"; readonly problem: string };

/**
 * Parses a line as the reply to a question. `canAskMore`: whether a user can be asked for what a short reply omits, such as
 * the reason of a rejection.
 */
export function lineToReply(line: string, question: Question, canAskMore: boolean): Reply {
  const text = line.trim();
  const [word = ""] = text.split(/\s/, 1);
  const given: GivenReply = { question, rest: text.slice(word.length).trim(), canAskMore };
  switch (question.about) {
    case "approval":
      return toApproval(word.toLowerCase(), given);
    case "outcome":
      return toOutcome(word.toLowerCase(), given);
    case "answer":
      return text === ""
        ? { type: "invalid", problem: "Type an answer, or press Ctrl-C to cancel." }
        : { type: "decide", decisions: textToAnswers(text) };
  }
}

/** An answer as it was typed; as JSON where the text does not fit the schema of the answer. */
export function textToAnswers(text: string): readonly [Decision, ...Decision[]] {
  const json = textToJson(text);
  return json === undefined ? [{ answer: text }] : [{ answer: text }, { answer: json }];
}

interface GivenReply {
  readonly question: Question;
  /** The text after the first word. */
  readonly rest: string;
  readonly canAskMore: boolean;
}

function toApproval(word: string, given: GivenReply): Reply {
  switch (word) {
    case "y":
    case "yes":
      return { type: "decide", decisions: ["approve"] };
    case "a":
    case "always":
      return { type: "decide", decisions: ["approve"], always: true };
    case "n":
    case "no":
      return orAsk(given, "Why? (optional) ", "", (reason) => ({ reject: reason }));
    case "e":
    case "edit":
      return toEdited(given);
    default:
      return { type: "invalid", problem: "Type y, n and a reason, a, or e and other arguments as JSON." };
  }
}

function toOutcome(word: string, given: GivenReply): Reply {
  switch (word) {
    case "r":
    case "run":
      return { type: "decide", decisions: [{ outcome: "run-again" }] };
    case "w":
    case "worked":
      return orAsk(given, "What did it return? (optional) ", "", (result) => ({ outcome: "worked", result }));
    case "f":
    case "failed":
      return orAsk(given, "Why? (optional) ", "", (reason) => ({ outcome: "failed", reason }));
    case "u":
    case "unknown":
      return { type: "decide", decisions: [{ outcome: "unknown" }] };
    default:
      return {
        type: "invalid",
        problem: "Type r to run it again, w and its result, f and a reason, or u if you do not know.",
      };
  }
}

/** A decision with the rest of the line, or with a line that is asked for. */
function orAsk(
  { rest, canAskMore }: GivenReply,
  prompt: string,
  prefill: string,
  toDecision: (text: string) => Decision,
): Reply {
  const toReply = (text: string): Reply => ({ type: "decide", decisions: [toDecision(text.trim())] });
  return rest === "" && canAskMore ? { type: "ask", prompt, prefill, toReply } : toReply(rest);
}

function toEdited({ question: { name, parameters }, rest, canAskMore }: GivenReply): Reply {
  const toReply = (text: string): Reply => {
    const json = textToJson(text);
    return json === undefined
      ? { type: "invalid", problem: `The arguments of ${name} must be JSON, in one line.` }
      : { type: "decide", decisions: [{ approve: json }] };
  };
  return rest === "" && canAskMore
    ? { type: "ask", prompt: "Arguments: ", prefill: editableArguments(parameters), toReply }
    : toReply(rest);
}
