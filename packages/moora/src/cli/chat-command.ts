import { AgentDesk } from "./agent-desk.ts";
import { exitCodes, type ExitCode } from "./cli-host.ts";
import { agentOptions, type Command } from "./command.ts";
import { UsageError } from "./usage-error.ts";

/** A conversation, a message a line. */
export const chatCommand: Command = {
  name: "chat",
  usage: "",
  summary: "Talk with the agent, a message a line. Ctrl-C ends an answer, or at the prompt the chat.",
  options: agentOptions,
  async run(call, host) {
    if (call.words.length > 0)
      throw new UsageError("chat takes no words.", `For one task say moora run "${call.words.join(" ")}".`);
    await using desk = new AgentDesk(call, host);
    if (desk.screen.isInteractive) desk.screen.aside(greeting(desk));
    return await conversation(desk);
  },
};

const greeting = ({ chosen: { provider, model } }: AgentDesk): string =>
  `${model === "" ? provider.name : `${model} at ${provider.name}`}. /help shows what can be said besides messages.`;

async function conversation(desk: AgentDesk): Promise<ExitCode> {
  for (;;) {
    const read = await desk.line("> ");
    if (read.type === "end") return exitCodes.answered;
    if (read.type !== "line") return exitCodes.cancelled;
    const text = read.text.trim();
    if (text === "/exit" || text === "/quit") return exitCodes.answered;
    if (/^\/\w*$/.test(text)) desk.screen.note(asideOf(text, desk));
    else if (text !== "") await desk.turn(text);
  }
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
