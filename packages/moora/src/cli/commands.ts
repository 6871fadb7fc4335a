import type { Command } from "./command.ts";
import { chatCommand } from "./commands/chat.ts";
import { decisionCommands } from "./commands/decisions.ts";
import { postCommands } from "./commands/posts.ts";
import { diffCommand } from "./commands/diff.ts";
import { evalCommand } from "./commands/eval.ts";
import { exportCommand } from "./commands/export.ts";
import { forkCommand } from "./commands/fork.ts";
import { importCommand } from "./commands/import.ts";
import { inspectCommand } from "./commands/inspect.ts";
import { logCommand } from "./commands/log.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { pruneCommand } from "./commands/prune.ts";
import { removeCommand } from "./commands/remove.ts";
import { rerunCommand } from "./commands/rerun.ts";
import { archiveCommand, restoreCommand } from "./commands/moves.ts";
import { runCommand } from "./commands/run.ts";
import { sessionsCommand } from "./commands/sessions.ts";
import { scheduleCommand } from "./commands/schedule.ts";
import { serveCommand } from "./commands/serve.ts";
import { showCommand } from "./commands/show.ts";
import { verifyCommand } from "./commands/verify.ts";
import { workerCommand } from "./commands/worker.ts";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  runCommand,
  chatCommand,
  mcpCommand,
  serveCommand,
  workerCommand,
  sessionsCommand,
  logCommand,
  showCommand,
  inspectCommand,
  ...postCommands,
  scheduleCommand,
  ...decisionCommands,
  verifyCommand,
  forkCommand,
  diffCommand,
  exportCommand,
  importCommand,
  rerunCommand,
  evalCommand,
  pruneCommand,
  archiveCommand,
  restoreCommand,
  removeCommand,
];
