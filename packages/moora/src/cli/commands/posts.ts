import { failureToError, type DurableSession, type Receipt } from "@moora/agent";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { errorToExitCode, errorToMessage } from "../error-message.ts";
import type { OptionName } from "../options.ts";
import { attachSession } from "../session/attach-session.ts";
import { resumeCommand, sessionCommand, stateAtRecord, type SessionCall } from "../session/session-call.ts";

interface PostCommand extends Pick<Command, "name" | "usage" | "summary"> {
  readonly done: string;
  readonly options?: readonly OptionName[];
  readonly post: (session: DurableSession, call: SessionCall) => Promise<Receipt>;
  /** What is done and shown once the post was accepted. */
  readonly next?: (session: DurableSession, call: SessionCall, seq: number) => Promise<string>;
}

/** The commands that post to a session, whether or not a process runs it: one row each. */
const rows: readonly PostCommand[] = [
  {
    name: "send",
    usage: "<session> <message...>",
    summary: "Send a message to a session that another process runs.",
    done: "Sent",
    post: (session, { args }) => session.send(args.slice(1).join(" ")),
    next: async (_, { hints, id }) => `To follow it: ${hints.command("log", id, "--follow")}`,
  },
  {
    name: "cancel",
    usage: "<session>",
    summary: "Cancel what the agent is doing. The session stays.",
    done: "Canceled",
    options: ["reason"],
    post: (session, { options }) => session.cancel(options.reason),
  },
  {
    name: "pause",
    usage: "<session>",
    summary: "Start no new work until `resume`. What runs ends.",
    done: "Paused",
    options: ["reason"],
    post: (session, { options }) => session.pause(options.reason),
  },
  {
    name: "resume",
    usage: "<session>",
    summary: "Continue a paused session.",
    done: "Resumed",
    post: (session) => session.resume(),
  },
  {
    name: "retry",
    usage: "<session>",
    summary: "Try again what has failed. The process that runs the session continues it.",
    done: "Tried again",
    post: (session) => session.retry(),
    next: afterRetry,
  },
];

export const postCommands: readonly Command[] = rows.map(({ done, post, next, ...row }) =>
  sessionCommand({ ...row, run: (call) => run(call, { done, post, next }) }),
);

/** Messages for reasons whose code does not explain them. */
const reasons: Readonly<Record<string, string>> = {
  "not-failed": "Nothing has failed that could be tried again.",
  "no-loop": "Nothing is in progress in this session.",
  "already-paused": "The session is paused already.",
  "not-paused": "The session is not paused.",
  "call-ended":
    "The call of this sub-agent has ended, and nothing would answer. Send to the session that called it.",
  blank: "The message is empty.",
  busy: "The agent is working, and does not accept messages meanwhile.",
};

type PostOf = Pick<PostCommand, "done" | "post"> & { readonly next: PostCommand["next"] | undefined };

async function run(call: SessionCall, { done, post, next }: PostOf): Promise<ExitCode> {
  await using session = await attachSession(call, "post");
  const receipt = await post(session, call);
  if (receipt.status === "ignored")
    throw new CliFailure(exitCodes.refused, reasons[receipt.reason] ?? `Ignored: ${receipt.reason}.`);
  const { seq } = receipt;
  call.print({ seq }, `${done}. It is record ${seq}.`);
  if (next !== undefined) call.screen.dim(await next(session, call, seq));
  return exitCodes.answered;
}

/** Throws `CliFailure` for a loop that has failed again at once. */
async function afterRetry(session: DurableSession, call: SessionCall, seq: number): Promise<string> {
  const { state } = await stateAtRecord(call, seq);
  const { control } = state.reActContext;
  const resume = await resumeCommand(call);
  if (control.type !== "Error") return `If no process runs the session: ${resume}`;
  const error = failureToError(control.failure, state, session.trace());
  const advice = `It failed at once, and does so until its agent has other settings, which a run adopts: ${resume}`;
  throw new CliFailure(errorToExitCode(error), `${errorToMessage(error, undefined)} ${advice}`);
}
