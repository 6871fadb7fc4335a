import type { CliHost } from "../cli-host.ts";
import { PipedLines } from "./piped-lines.ts";
import { TerminalLines } from "./terminal-lines.ts";
import type { LineReader } from "./line-read.ts";

/** `onInterrupt` is called for Ctrl-C while lines are collected. */
export const createLineReader = (host: CliHost, onInterrupt: () => void): LineReader =>
  isTerminal(host) ? new TerminalLines(host, onInterrupt) : new PipedLines(host);

/** Whether a user can type, and see the question. */
const isTerminal = ({ stdin, stderr }: CliHost): boolean => stdin.isTTY === true && stderr.isTTY === true;
