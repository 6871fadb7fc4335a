import type { AgentDesk } from "./agent-desk.ts";
import { exitCodes, type ExitCode } from "./cli-host.ts";
import { agentOptions, type Command } from "./command.ts";
import { UsageError } from "./usage-error.ts";

/** A conversation, a message a line. */
export const chatCommand: Command = {
  name: "chat",
  usage: "",
  summary: "Talk with the agent, a message a line. Ctrl-C ends an answer, or the chat.",
  options: agentOptions,
  async run(call, host) {
    if (call.words.length > 0)
      throw new UsageError("chat takes no words.", `For one task say moora run "${call.words.join(" ")}".`);
    const { AgentDesk: Desk } = await import("./agent-desk.ts");
    await using desk = await Desk.open(call, host);
    if (desk.screen.isInteractive) desk.screen.aside(greeting(desk));
    return await conversation(desk);
  },
};

const greeting = ({ chosen: { provider, model } }: AgentDesk): string =>
  `${model === "" ? provider.name : `${model} at ${provider.name}`}. /help shows what can be said besides messages.`;

async function conversation(desk: AgentDesk): Promise<ExitCode> {
  if (desk.isUnderWay) await desk.goOn();
  for (;;) {
    const read = await desk.line("> ");
    if (desk.isLeaving) return exitCodes.terminated;
    if (read.type === "end" || (read.type === "line" && isGoodbye(read.text))) return exitCodes.answered;
    if (read.type === "interrupted") return exitCodes.cancelled;
    const code = read.type === "line" ? await said(read.text.trim(), desk) : await desk.goOn();
    if (code !== undefined && isOver.has(code)) return code;
  }
}

const isGoodbye = (line: string): boolean => /^\/(exit|quit)$/.test(line.trim());

/** Ends of a loop after which nothing can be said here any more. */
const isOver: ReadonlySet<ExitCode> = new Set([exitCodes.busy, exitCodes.unreadable, exitCodes.terminated]);

/** What came of a line; undefined where it was no message. */
async function said(text: string, desk: AgentDesk): Promise<ExitCode | undefined> {
  if (/^\/\w*$/.test(text)) desk.screen.note(asideOf(text, desk));
  else if (text !== "") return await desk.turn(text);
  return undefined;
}

/** One row for each word that is no message. */
const asides: Readonly<Record<string, (desk: AgentDesk) => string>> = {
  "/help": () =>
    "/tools lists the tools, /trace the walk through the control graph, /exit leaves; so does Ctrl-D.",
  "/tools": ({ session }) =>
    Object.entries(session.current().tools)
      .map(([name, { description }]) => `${name}: ${description}`)
      .join("\n"),
  "/trace": ({ session }) => session.trace().print(),
};

const asideOf = (text: string, desk: AgentDesk): string =>
  (Object.hasOwn(asides, text) ? asides[text] : undefined)?.(desk) ??
  `There is no ${text}. /help shows what there is.`;
