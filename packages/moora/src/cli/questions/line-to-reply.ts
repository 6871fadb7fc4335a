import { InputRefused, type Decision, type Question, type Receipt } from "@moora/agent";
import { textToJson } from "@moora/llm/internal";
import { editableArguments } from "./question-text.ts";

/** The decisions that a text may mean, most likely first: the first that fits the question counts. */
export type Decisions = readonly [Decision, ...Decision[]];

/** Applies decisions in order until one fits the tool or the schema of the question. Returns it with its receipt. */
export async function decideFirst(
  decide: (decision: Decision) => Promise<Receipt>,
  [decision, ...others]: Decisions,
): Promise<readonly [Receipt, Decision]> {
  try {
    return [await decide(decision), decision];
  } catch (error) {
    const [next, ...rest] = others;
    if (!(error instanceof InputRefused) || next === undefined) throw error;
    return await decideFirst(decide, [next, ...rest]);
  }
}

/** The meaning of a line as a reply to a question. */
export type Reply =
  | { readonly type: "decide"; readonly decisions: Decisions; readonly always?: true }
  /** One more line is needed. */
  | {
      readonly type: "ask";
      readonly prompt: string;
      readonly prefill: string;
      readonly toReply: (line: string) => Reply;
    }
  | { readonly type: "invalid"; readonly problem: string };

/** One reply to a question: its first word, or the letter of that, and a text behind it. */
interface Choice {
  /** As the prompt shows it, with its letter in brackets. */
  readonly label: string;
  /** What a person is asked for who typed no text behind the word. Default: no text is needed. */
  readonly asks?: string;
  readonly prefill?: (question: Question) => string;
  readonly toReply: (text: string, question: Question) => Reply;
}

interface Asking {
  readonly lead: string;
  readonly choices: readonly Choice[];
  /** What to type, after a line that is not one of the choices. */
  readonly help: string;
}

const decide = (decision: Decision): Reply => ({ type: "decide", decisions: [decision] });

/** How each kind of question is asked, but for one that is answered with any text. */
const asking: Readonly<Record<Exclude<Question["about"], "answer">, Asking>> = {
  approval: {
    lead: "Allow it?",
    choices: [
      { label: "[y]es", toReply: () => decide("approve") },
      { label: "[n]o", asks: "Why? (optional) ", toReply: (reason) => decide({ reject: reason }) },
      { label: "[a]lways", toReply: () => ({ type: "decide", decisions: ["approve"], always: true }) },
      {
        label: "[e]dit",
        asks: "Arguments: ",
        prefill: ({ parameters }) => editableArguments(parameters),
        toReply: toEdited,
      },
    ],
    help: "Type y, n and a reason, a, or e and other arguments as JSON.",
  },
  outcome: {
    lead: "What happened?",
    choices: [
      { label: "[r]un again", toReply: () => decide({ outcome: "run-again" }) },
      {
        label: "[w]orked",
        asks: "What did it return? (optional) ",
        toReply: (result) => decide({ outcome: "worked", result }),
      },
      {
        label: "[f]ailed",
        asks: "Why? (optional) ",
        toReply: (reason) => decide({ outcome: "failed", reason }),
      },
      { label: "[u]nknown", toReply: () => decide({ outcome: "unknown" }) },
    ],
    help: "Type r to run it again, w and its result, f and a reason, or u if you do not know.",
  },
};

function toEdited(text: string, { name }: Question): Reply {
  const json = textToJson(text);
  return json === undefined
    ? { type: "invalid", problem: `The arguments of ${name} must be JSON, in one line.` }
    : decide({ approve: json });
}

/** The prompt at which a question is answered. */
export function promptOf({ about }: Question): string {
  if (about === "answer") return "Your answer: ";
  const { lead, choices } = asking[about];
  return `${lead} ${choices.map(({ label }) => label).join(", ")}: `;
}

/**
 * Parses a line as the reply to a question. `canAskMore`: whether a user can be asked for what a short reply omits, such as
 * the reason of a rejection.
 */
export function lineToReply(line: string, question: Question, canAskMore: boolean): Reply {
  const text = line.trim();
  const { about } = question;
  if (about === "answer") {
    return text === ""
      ? { type: "invalid", problem: "Type an answer, or press Ctrl-C to cancel." }
      : { type: "decide", decisions: textToAnswers(text) };
  }
  const [word = ""] = text.split(/\s/, 1);
  const { choices, help } = asking[about];
  const choice = choices.find(({ label }) => wordsOf(label).includes(word.toLowerCase()));
  if (choice === undefined) return { type: "invalid", problem: help };
  const { asks, prefill } = choice;
  const toReply = (more: string): Reply => choice.toReply(more.trim(), question);
  const rest = text.slice(word.length);
  if (asks === undefined || rest !== "" || !canAskMore) return toReply(rest);
  return { type: "ask", prompt: asks, prefill: prefill?.(question) ?? "", toReply };
}

/** The letter and the word of a choice: `n` and `no` of `[n]o`. */
const wordsOf = (label: string): readonly string[] => [label.charAt(1), label.replaceAll(/[[\]]|\s.*/g, "")];

/** An answer as it was typed; as JSON where the text does not fit the schema of the answer. */
export function textToAnswers(text: string): Decisions {
  const json = textToJson(text);
  return json === undefined ? [{ answer: text }] : [{ answer: text }, { answer: json }];
}
