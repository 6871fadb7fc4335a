import { chatCommand } from "./chat-command.ts";
import type { Command } from "./command.ts";
import { runCommand } from "./run-command.ts";

/** Every command: one row each. */
export const commands: readonly Command[] = [runCommand, chatCommand];
