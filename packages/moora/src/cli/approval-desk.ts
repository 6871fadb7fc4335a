import { InputRefused, type Decision, type Question, type Receipt } from "@moora/agent";
import { textToJson } from "@moora/llm";
import type { Lines } from "./lines.ts";
import type { Screen } from "./screen.ts";

/** Characters of the arguments that are shown; longer ones are not for a decision at a glance. */
const maxShown = 4_000;

const prompt = "Allow it? [y]es, [n]o, [a]lways, [e]dit: ";

/** What a person's line means: a decision, or that it has to be said again. */
type Reply =
  | { readonly type: "decision"; readonly decision: Decision; readonly always?: true }
  | { readonly type: "again"; readonly problem: string };

export interface Deciding {
  /** `by`: who it was, where it was not the person here. */
  readonly decide: (question: Question, decision: Decision, by?: string) => Promise<Receipt>;
  /** How to decide it from elsewhere: then it stays open where nobody is here. */
  readonly elsewhere: ((question: Question) => string) | undefined;
}

/** Puts questions to the person at the keyboard, or to the lines of a pipe, one at a time in the order they came. */
export class ApprovalDesk {
  private readonly lines: Lines;
  private readonly screen: Screen;
  private readonly deciding: Deciding;
  private readonly allowed = new Set<string>();
  /** Questions that are put, or are in the queue. */
  private readonly open = new Set<string>();
  private last: Promise<void> = Promise.resolve();

  constructor(lines: Lines, screen: Screen, deciding: Deciding) {
    this.lines = lines;
    this.screen = screen;
    this.deciding = deciding;
  }

  /** Asks as soon as nothing else is asked. `interrupt` is called for Ctrl-C at the question. */
  ask(question: Question, signal: AbortSignal, interrupt: () => void): void {
    const key = `${question.toolCallId}/${question.digest}`;
    if (this.open.has(key)) return;
    this.open.add(key);
    this.last = this.last.then(async () => {
      try {
        await this.settle(question, signal, interrupt);
      } catch (error) {
        this.screen.note(
          `The answer could not be given: ${error instanceof Error ? error.message : String(error)}`,
        );
      } finally {
        this.open.delete(key);
      }
    });
  }

  private async settle(question: Question, signal: AbortSignal, interrupt: () => void): Promise<void> {
    if (signal.aborted) return;
    if (this.allowed.has(question.name)) return void (await this.decided(question, "approve"));
    this.show(question);
    for (;;) {
      const read = await this.screen.held(() => this.lines.next(prompt, signal));
      if (read.type === "called-off") return;
      if (read.type === "interrupted") return interrupt();
      if (read.type === "end") return await this.unasked(question);
      const reply = lineToReply(read.text, question);
      if (reply.type === "decision") {
        if (reply.always === true) this.allowed.add(question.name);
        if (await this.decided(question, reply.decision)) return;
      } else this.screen.note(reply.problem);
    }
  }

  /** Nobody is here: it is left to others, or refused where there can be none. */
  private async unasked(question: Question): Promise<void> {
    const { decide, elsewhere } = this.deciding;
    if (elsewhere !== undefined) return this.screen.note(`It waits for ${elsewhere(question)}`);
    this.screen.note("There is nobody to ask: it is refused. Allow it with --approve never.");
    await decide(question, { reject: "There is nobody to ask." }, "nobody");
  }

  /** Whether the question is settled; changed arguments that do not fit the tool leave it open. */
  private async decided(question: Question, decision: Decision): Promise<boolean> {
    try {
      const receipt = await this.deciding.decide(question, decision);
      if (receipt.status === "ignored" && receipt.decidedBy !== undefined)
        this.screen.note(`It was already decided by ${receipt.decidedBy}.`);
      return true;
    } catch (error) {
      if (!(error instanceof InputRefused)) throw error;
      this.screen.note(`That does not fit: ${error.message}`);
      return false;
    }
  }

  private show({ about, name, parameters }: Question): void {
    const text = typeof parameters === "string" ? parameters : JSON.stringify(parameters, null, 2);
    const what =
      about === "outcome"
        ? `${name} was broken off. Did it work? "y" runs it again.`
        : `The agent wants to call ${name} with`;
    const rest = text.length > maxShown ? `\n[${text.length - maxShown} more characters are not shown]` : "";
    this.screen.note(`${what}\n${text.slice(0, maxShown)}${rest}`);
  }
}

/** y, n and why, a, or e and other arguments as JSON. A question of the agent's own takes any line as its answer. */
function lineToReply(line: string, { about, name }: Question): Reply {
  const text = line.trim();
  if (about === "answer") return { type: "decision", decision: { answer: text } };
  const [word = "", ...rest] = text.split(/\s+/);
  const said = rest.join(" ");
  switch (word.toLowerCase()) {
    case "y":
    case "yes":
      return { type: "decision", decision: "approve" };
    case "a":
    case "always":
      return { type: "decision", decision: "approve", always: true };
    case "n":
    case "no":
      return { type: "decision", decision: { reject: said } };
    case "e":
    case "edit": {
      const json = textToJson(text.slice(word.length));
      return json === undefined
        ? { type: "again", problem: `Say e and the arguments of ${name} as JSON, in one line.` }
        : { type: "decision", decision: { approve: json } };
    }
    default:
      return { type: "again", problem: "Say y, n (and why), a, or e and other arguments as JSON." };
  }
}
