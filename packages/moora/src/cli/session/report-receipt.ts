import type { Receipt } from "@moora/agent";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { SessionCall } from "./open-call.ts";

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

/** Prints an accepted receipt. Throws `CliFailure` for an ignored one. */
export function reportReceipt({ print }: SessionCall, receipt: Receipt, done: string): ExitCode {
  if (receipt.status === "ignored")
    throw new CliFailure(exitCodes.refused, reasons[receipt.reason] ?? `Ignored: ${receipt.reason}.`);
  print({ seq: receipt.seq }, `${done}. It is record ${receipt.seq}.`);
  return exitCodes.answered;
}
