import { taskWithText } from "@moora/planner/piped-input";
import type { CliHost } from "./cli-host.ts";
import { readPipedText, type PipedText } from "./terminal/piped-text.ts";
import { Interrupts } from "./terminal/interrupts.ts";
import { Screen } from "./terminal/screen.ts";
import { UsageError } from "./usage-error.ts";

/** More would not fit into a request of most models. */
const maxCharacters = 200_000;

/**
 * How long an open pipe may be silent before the task runs without it. Programs that start the command line often leave
 * its standard input open and never write to it.
 */
const firstByteMs = 3_000;

/**
 * The task with the text of standard input. `readsAll`: `-` was given, which waits for the text without a limit and uses it
 * as the whole task if there is no other one. Undefined if it was interrupted.
 */
export async function pipedTask(task: string, readsAll: boolean, host: CliHost): Promise<string | undefined> {
  const screen = new Screen(host);
  const read = await readInput(host, screen, readsAll, task === "");
  switch (read.type) {
    case "canceled":
      return undefined;
    case "failed":
      throw new UsageError(`Standard input cannot be read: ${read.reason}`, "");
    case "silent":
      screen.line(
        "Standard input is open but sends nothing; the task runs without it. Add - to wait for it, or use < /dev/null.",
      );
      return task;
    case "text":
      return withText(task, read, screen);
  }
}

async function readInput(
  host: CliHost,
  screen: Screen,
  readsAll: boolean,
  isWholeTask: boolean,
): Promise<PipedText> {
  using interrupts = new Interrupts(host);
  const over = new AbortController();
  screen.showStatus("reading standard input");
  const read = await interrupts.during(
    () => over.abort(),
    () =>
      readPipedText(host, {
        signal: over.signal,
        ...(readsAll ? {} : { firstByteMs }),
        ...(isWholeTask ? {} : { maxCharacters }),
      }),
  );
  screen.clearStatus();
  return read;
}

function withText(
  task: string,
  { text, isCut }: Extract<PipedText, { type: "text" }>,
  screen: Screen,
): string {
  if (text.includes("\0"))
    throw new UsageError("Standard input is not text.", "Pipe text, or use < /dev/null.");
  if (task === "") return text.trim();
  if (text.trim() === "") return task;
  if (isCut) {
    screen.line(
      `Only the first ${maxCharacters.toLocaleString("en-US")} characters of standard input are used.`,
    );
  }
  return taskWithText(task, text.toWellFormed(), isCut);
}
