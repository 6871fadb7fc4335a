import type { AgentTerminal } from "../terminal/agent-terminal.ts";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import { agentOptions, type Command } from "../command.ts";
import { lineToChat } from "../slash-commands.ts";
import { usageError } from "../cli-failure.ts";
import type { AgentMessage } from "@moora/agent";

/** Runs a conversation, one message per line. */
export const chatCommand: Command = {
  name: "chat",
  usage: "",
  summary: "Chat, one message per line. Ctrl-C ends an answer, or the chat.",
  options: agentOptions,
  async run(call, host) {
    if (call.args.length > 0) {
      throw usageError(
        '"moora chat" takes no arguments.',
        `To run one task: moora run "${call.args.join(" ")}"`,
      );
    }
    const { AgentTerminal: Terminal } = await import("../terminal/agent-terminal.ts");
    await using terminal = await Terminal.open(call, host);
    if (terminal.screen.isInteractive) greet(terminal);
    return await chat(terminal);
  },
};

/** Shows the model, and the last messages of the conversation. */
function greet({ chosen, cliSession: { hints }, hasResumedLoop, screen, session }: AgentTerminal): void {
  const { provider, model = "" } = chosen ?? {};
  const name = provider?.name ?? "The agent of the module";
  screen.dim(`${model === "" ? name : `${model} at ${name}`}. Type /help for the commands.`);
  if (hints === undefined) return;
  const { messages } = session.current();
  const { earlier, shown } = recentMessages(messages, hasResumedLoop);
  if (earlier > 0) screen.dim(`${earlier} earlier messages: ${hints.command("show", session.id)}`);
  for (const { role, content } of shown) {
    if (role === "user") screen.dim(`> ${content}`);
    else screen.line(content);
  }
}

async function chat(terminal: AgentTerminal): Promise<ExitCode> {
  const resumed = terminal.hasResumedLoop ? await collectAnd(terminal, () => terminal.resume()) : undefined;
  if (resumed !== undefined && endsChat.has(resumed)) return resumed;
  for (;;) {
    const read = await terminal.readLine("> ");
    if (terminal.isStopping) return exitCodes.terminated;
    if (read.type === "end") return exitCodes.answered;
    if (read.type === "interrupted") return exitCodes.canceled;
    const code =
      read.type === "line"
        ? await handleLine(read.text, terminal)
        : await collectAnd(terminal, () => terminal.resume());
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
async function handleLine(line: string, terminal: AgentTerminal): Promise<ExitCode | "leave" | undefined> {
  const { type, text } = lineToChat(line, terminal);
  if (type === "message")
    return text === "" ? undefined : await collectAnd(terminal, () => terminal.ask(text));
  if (type === "leave") return "leave";
  terminal.screen.line(text);
  return undefined;
}

async function collectAnd(terminal: AgentTerminal, work: () => Promise<ExitCode>): Promise<ExitCode> {
  terminal.collectLines();
  return await work();
}

/** The number of exchanges that are shown: a message of the user and its answer. */
const maxExchanges = 3;
/** Characters of each message that are shown. */
const maxCharacters = 1_000;

interface RecentMessages {
  /** How many messages came before those that are shown. */
  readonly earlier: number;
  readonly shown: readonly Pick<AgentMessage, "role" | "content">[];
}

/** The last exchanges of a conversation. `isInProgress`: the last message of the user is not answered yet, and is left out. */
function recentMessages(messages: readonly AgentMessage[], isInProgress: boolean): RecentMessages {
  const end = isInProgress ? messages.findLastIndex(({ role }) => role === "user") : messages.length;
  const visible = messages
    .slice(0, Math.max(0, end))
    .filter(({ content, status }) => content !== "" && status !== "dropped");
  const begins = visible.flatMap(({ role }, index) => (role === "user" ? [index] : []));
  const start = begins.at(-maxExchanges) ?? 0;
  return {
    earlier: start,
    shown: visible.slice(start).map(({ role, content }) => ({ role, content: truncated(content) })),
  };
}

const truncated = (text: string): string =>
  text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters).toWellFormed()}...`;
