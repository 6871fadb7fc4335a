import { appendFileSync, existsSync, watch } from "node:fs";
import { defineTool, type Tool } from "@moora/agent";

/** While there is a file of this name in the folder, runs do not end. */
export const hold = "hold";
/** Every run is a line of this file: tool, attempt, key. */
export const runs = "runs.txt";

/** Tools of a user: each reports that it runs, and ends when it is released. */
const held = (name: string, more: Pick<Tool["definition"], "replay" | "approval">): Tool =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input: { type: "object", properties: { what: { type: "string" } } },
    ...more,
    async execute(_, { attempt, idempotencyKey }) {
      appendFileSync(runs, `${name} ${attempt} ${idempotencyKey}\n`);
      process.stderr.write(`${name} runs\n`);
      await gone();
      return `${name} is done`;
    },
  });

/** Resolves when nothing holds a run any more. */
async function gone(): Promise<void> {
  const free = Promise.withResolvers<void>();
  const watcher = watch(".", () => void (existsSync(hold) || free.resolve()));
  if (!existsSync(hold)) free.resolve();
  await free.promise;
  watcher.close();
}

export const tools: readonly Tool[] = [
  held("charge", { replay: "once" }),
  held("send_mail", { replay: "keyed" }),
  held("refund", { replay: "once", approval: "always" }),
];
