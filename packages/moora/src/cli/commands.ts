import { chatCommand } from "./chat-command.ts";
import type { Command } from "./command.ts";
import { runCommand } from "./run-command.ts";
import { diffCommand, verifyCommand } from "./session/check-commands.ts";
import { exportCommand, forkCommand, importCommand } from "./session/copy-commands.ts";
import { decideCommands } from "./session/decide-commands.ts";
import { logCommand } from "./session/log-command.ts";
import { cancelCommand, sendCommand } from "./session/post-commands.ts";
import { rerunCommand } from "./session/rerun-command.ts";
import { sessionsCommand } from "./session/sessions-command.ts";
import { showCommand } from "./session/show-command.ts";

/** Every command: one row each. */
export const commands: readonly Command[] = [
  runCommand,
  chatCommand,
  sessionsCommand,
  logCommand,
  showCommand,
  sendCommand,
  ...decideCommands,
  cancelCommand,
  verifyCommand,
  forkCommand,
  diffCommand,
  exportCommand,
  importCommand,
  rerunCommand,
];
