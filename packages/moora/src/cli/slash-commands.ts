import type { AgentTerminal } from "./terminal/agent-terminal.ts";
import { nearest } from "@moora/agent-core-effects/internal";

/** A line of a chat. `text` is the message, or the output of a command. */
export interface ChatLine {
  readonly type: "message" | "output" | "leave";
  readonly text: string;
}

interface SlashCommand {
  readonly help: string;
  readonly run: (terminal: AgentTerminal) => Omit<ChatLine, "type"> & { readonly type: "output" | "leave" };
}

const output = (text: string): { readonly type: "output"; readonly text: string } => ({
  type: "output",
  text,
});
const leave = (): { readonly type: "leave"; readonly text: string } => ({ type: "leave", text: "" });

/** The commands of a chat: one row each. */
const slashCommands: Readonly<Record<string, SlashCommand>> = {
  "/help": { help: "Show the commands.", run: () => output(helpText()) },
  "/tools": {
    help: "List the tools.",
    run: ({ session }) =>
      output(
        Object.entries(session.current().tools)
          .map(([name, { description }]) => `${name}: ${description}`)
          .join("\n"),
      ),
  },
  "/trace": {
    help: "Show the path through the control graph.",
    run: ({ session }) => output(session.trace().toText()),
  },
  "/exit": { help: "Leave the chat. So does Ctrl-D.", run: leave },
  "/quit": { help: "The same as /exit.", run: leave },
};

/** Reads a line of a chat. A line that begins with / is a command; // begins a message with one /. */
export function lineToChat(line: string, terminal: AgentTerminal): ChatLine {
  const text = line.trim();
  if (!text.startsWith("/")) return { type: "message", text };
  if (text.startsWith("//")) return { type: "message", text: text.slice(1) };
  const [name = ""] = text.split(/\s/, 1);
  const command = Object.hasOwn(slashCommands, name) ? slashCommands[name] : undefined;
  if (command === undefined) return output(unknownText(name));
  return name === text ? command.run(terminal) : output(`${name} takes no arguments.`);
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
