import { on } from "node:events";
import { errorText } from "@moora/agent-core-effects/internal";
import { taskWithText } from "@moora/planner/piped-input";
import type { CliHost } from "./cli-host.ts";
import { Interrupts } from "./terminal/interrupts.ts";
import { Screen } from "./terminal/screen.ts";
import { usageError } from "./cli-failure.ts";

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
  screen.showStatus("reading standard input");
  const text = await readInput(host, readsAll, task === "" ? Number.POSITIVE_INFINITY : maxCharacters);
  screen.clearStatus();
  if (text === canceled) return undefined;
  if (text === silent) {
    screen.line(
      "Standard input is open but sends nothing; the task runs without it. Add - to wait for it, or use < /dev/null.",
    );
    return task;
  }
  if (text.includes("\0")) throw usageError("Standard input is not text.", "Pipe text, or use < /dev/null.");
  if (task === "") return text.trim();
  if (text.trim() === "") return task;
  const isCut = text.length > maxCharacters;
  if (isCut) {
    const shown = maxCharacters.toLocaleString("en-US");
    screen.line(`Only the first ${shown} characters of standard input are used.`);
  }
  return taskWithText(task, text.slice(0, maxCharacters).toWellFormed(), isCut);
}

const canceled = Symbol("canceled");
const silent = Symbol("silent");

/** Standard input to its end, or until it has more than `most` characters. */
async function readInput(
  host: CliHost,
  readsAll: boolean,
  most: number,
): Promise<string | typeof canceled | typeof silent> {
  const { stdin, clock } = host;
  using interrupts = new Interrupts(host);
  const over = new AbortController();
  const cancelTimer = readsAll ? undefined : clock.after(firstByteMs, () => over.abort(silent));
  const decoder = new TextDecoder();
  let text = "";
  const read = async (): Promise<void> => {
    if (stdin.readableEnded || stdin.destroyed) return;
    for await (const event of on(stdin, "data", { signal: over.signal, close: ["end", "close"] })) {
      const chunk: Uint8Array | string = event[0];
      cancelTimer?.();
      text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
      if (text.length > most) return;
    }
  };
  try {
    await interrupts.during(() => over.abort(canceled), read);
    return text + decoder.decode();
  } catch (error) {
    if (over.signal.aborted) return over.signal.reason === silent ? silent : canceled;
    throw usageError(`Standard input cannot be read: ${errorText(error)}`, "");
  } finally {
    cancelTimer?.();
    stdin.pause();
  }
}
