import type { AgentTerminal } from "./terminal/agent-terminal.ts";
import { nearest } from "@moora/agent-core-effects/internal";

/** A line of a chat. `text` is the message, or the output of a command. */
export interface ChatLine {
  readonly type: "message" | "output" | "leave";
  readonly text: string;
}

interface SlashCommand {
  readonly help: string;
  /** Returns what is shown; undefined to leave the chat. */
  readonly run: (terminal: AgentTerminal) => string | undefined;
}

/** The commands of a chat: one row each. */
const slashCommands: Readonly<Record<string, SlashCommand>> = {
  "/help": { help: "Show the commands.", run: () => helpText() },
  "/tools": {
    help: "List the tools.",
    run: ({ session }) =>
      Object.entries(session.current().tools)
        .map(([name, { description }]) => `${name}: ${description}`)
        .join("\n"),
  },
  "/trace": {
    help: "Show the path through the control graph.",
    run: ({ session }) => session.trace().toText(),
  },
  "/exit": { help: "Leave the chat. So does Ctrl-D.", run: () => undefined },
  "/quit": { help: "The same as /exit.", run: () => undefined },
};

/** Reads a line of a chat. A line that begins with / is a command; // begins a message with one /. */
export function lineToChat(line: string, terminal: AgentTerminal): ChatLine {
  const text = line.trim();
  if (!text.startsWith("/")) return { type: "message", text };
  if (text.startsWith("//")) return { type: "message", text: text.slice(1) };
  const [name = ""] = text.split(/\s/, 1);
  const command = Object.hasOwn(slashCommands, name) ? slashCommands[name] : undefined;
  if (command === undefined) return { type: "output", text: unknownText(name) };
  const output = name === text ? command.run(terminal) : `${name} takes no arguments.`;
  return output === undefined ? { type: "leave", text: "" } : { type: "output", text: output };
}

function unknownText(name: string): string {
  const meant = nearest(
    name.slice(1),
    Object.keys(slashCommands).map((known) => known.slice(1)),
  );
  const hint = meant === undefined ? "Type /help for the commands." : `Did you mean "/${meant}"?`;
  return `Unknown command "${name}". ${hint} To send a message that begins with /, type //.`;
}

const helpText = (): string =>
  [
    ...Object.entries(slashCommands).map(([name, { help }]) => `${name.padEnd(8)} ${help}`),
    `${"//...".padEnd(8)} Send a message that begins with one /.`,
  ].join("\n");
