import type { AgentDesk } from "./agent-desk.ts";
import { exitCodes, type ExitCode } from "./cli-host.ts";
import { agentOptions, type Command } from "./command.ts";
import { recentMessages } from "./recent-messages.ts";
import { lineToChat } from "./slash-commands.ts";
import { UsageError } from "./usage-error.ts";

/** A conversation, one message per line. */
export const chatCommand: Command = {
  name: "chat",
  usage: "",
  summary: "Chat, one message per line. Ctrl-C ends an answer, or the chat.",
  options: agentOptions,
  async run(call, host) {
    if (call.words.length > 0)
      throw new UsageError(
        '"moora chat" takes no arguments.',
        `To run one task: moora run "${call.words.join(" ")}"`,
      );
    const { AgentDesk: Desk } = await import("./agent-desk.ts");
    await using desk = await Desk.open(call, host);
    if (desk.screen.isInteractive) greet(desk);
    return await chat(desk);
  },
};

/** Shows which model answers, and where the conversation was left. */
function greet({ chosen, conversation: { kept }, isUnderWay, screen, session }: AgentDesk): void {
  const { provider, model } = chosen;
  screen.aside(
    `${model === "" ? provider.name : `${model} at ${provider.name}`}. Type /help for the commands.`,
  );
  if (kept === undefined) return;
  const { messages } = session.current();
  const { earlier, shown } = recentMessages(messages, isUnderWay);
  if (earlier > 0) screen.aside(`${earlier} earlier messages: ${kept.show}`);
  for (const { role, content } of shown) {
    if (role === "user") screen.aside(`> ${content}`);
    else screen.note(content);
  }
}

async function chat(desk: AgentDesk): Promise<ExitCode> {
  const resumed = desk.isUnderWay ? await working(desk, () => desk.resume()) : undefined;
  if (resumed !== undefined && endsChat.has(resumed)) return resumed;
  for (;;) {
    const read = await desk.line("> ");
    if (desk.isLeaving) return exitCodes.terminated;
    if (read.type === "end") return exitCodes.answered;
    if (read.type === "interrupted") return exitCodes.canceled;
    const code = read.type === "line" ? await say(read.text, desk) : await working(desk, () => desk.resume());
    if (code === "leave") return exitCodes.answered;
    if (code !== undefined && endsChat.has(code)) return code;
  }
}

/** Results of a loop after which the chat cannot continue here. */
const endsChat: ReadonlySet<ExitCode> = new Set([
  exitCodes.busy,
  exitCodes.unreadable,
  exitCodes.waiting,
  exitCodes.terminated,
]);

/** Handles a line. Returns the result of the loop that it began, if it is a message. */
async function say(line: string, desk: AgentDesk): Promise<ExitCode | "leave" | undefined> {
  const { type, text } = lineToChat(line, desk);
  if (type === "message") return text === "" ? undefined : await working(desk, () => desk.turn(text));
  if (type === "leave") return "leave";
  desk.screen.note(text);
  return undefined;
}

async function working(desk: AgentDesk, work: () => Promise<ExitCode>): Promise<ExitCode> {
  desk.collectLines();
  return await work();
}
