import type { Command } from "./command.ts";
import { answerCommand } from "./commands/answer.ts";
import { approveCommand } from "./commands/approve.ts";
import { archiveCommand } from "./commands/archive.ts";
import { retryCommand } from "./commands/retry.ts";
import { cancelCommand } from "./commands/cancel.ts";
import { chatCommand } from "./commands/chat.ts";
import { diffCommand } from "./commands/diff.ts";
import { exportCommand } from "./commands/export.ts";
import { forkCommand } from "./commands/fork.ts";
import { importCommand } from "./commands/import.ts";
import { inspectCommand } from "./commands/inspect.ts";
import { logCommand } from "./commands/log.ts";
import { mcpCommand } from "./commands/mcp.ts";
import { pauseCommand } from "./commands/pause.ts";
import { pruneCommand } from "./commands/prune.ts";
import { rejectCommand } from "./commands/reject.ts";
import { removeCommand } from "./commands/remove.ts";
import { rerunCommand } from "./commands/rerun.ts";
import { restoreCommand } from "./commands/restore.ts";
import { resumeCommand } from "./commands/resume.ts";
import { runCommand } from "./commands/run.ts";
import { sendCommand } from "./commands/send.ts";
import { sessionsCommand } from "./commands/sessions.ts";
import { serveCommand } from "./commands/serve.ts";
import { settleCommand } from "./commands/settle.ts";
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
  sendCommand,
  approveCommand,
  rejectCommand,
  answerCommand,
  settleCommand,
  cancelCommand,
  pauseCommand,
  resumeCommand,
  retryCommand,
  verifyCommand,
  forkCommand,
  diffCommand,
  exportCommand,
  importCommand,
  rerunCommand,
  pruneCommand,
  archiveCommand,
  restoreCommand,
  removeCommand,
];
