import { InputRefused, type ApprovalRequested, type Decision } from "@moora/agent";
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

/** Puts questions to the person at the keyboard, or to the lines of a pipe, one at a time in the order they came. */
export class ApprovalDesk {
  private readonly lines: Lines;
  private readonly screen: Screen;
  private readonly allowed = new Set<string>();
  private last: Promise<void> = Promise.resolve();

  constructor(lines: Lines, screen: Screen) {
    this.lines = lines;
    this.screen = screen;
  }

  /** Asks as soon as nothing else is asked. `interrupt` is called for Ctrl-C at the question. */
  ask(question: ApprovalRequested, signal: AbortSignal, interrupt: () => void): void {
    this.last = this.last.then(async () => {
      try {
        await this.settle(question, signal, interrupt);
      } catch (error) {
        this.screen.note(
          `The answer could not be given: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    });
  }

  private async settle(
    question: ApprovalRequested,
    signal: AbortSignal,
    interrupt: () => void,
  ): Promise<void> {
    if (signal.aborted) return;
    if (this.allowed.has(question.name)) return void (await question.decide("approve", "user"));
    this.show(question);
    for (;;) {
      const read = await this.screen.held(() => this.lines.next(prompt, signal));
      if (read.type === "called-off") return;
      if (read.type === "interrupted") return interrupt();
      if (read.type === "end") {
        this.screen.note("There is nobody to ask: it is refused. Allow it with --approve never.");
        return void (await question.decide({ reject: "There is nobody to ask." }, "nobody"));
      }
      const reply = lineToReply(read.text, question);
      if (reply.type === "decision") {
        if (reply.always === true) this.allowed.add(question.name);
        if (await this.decided(question, reply.decision)) return;
      } else this.screen.note(reply.problem);
    }
  }

  /** Whether the decision could be taken; changed arguments that do not fit the tool leave the question open. */
  private async decided(question: ApprovalRequested, decision: Decision): Promise<boolean> {
    try {
      await question.decide(decision, "user");
      return true;
    } catch (error) {
      if (!(error instanceof InputRefused)) throw error;
      this.screen.note(`That does not fit: ${error.message}`);
      return false;
    }
  }

  private show({ about, name, parameters }: ApprovalRequested): void {
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
function lineToReply(line: string, { about, name }: ApprovalRequested): Reply {
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
