import type { MoveOptions } from "@moora/agent";
import type { SessionCall } from "./session-call.ts";

/** The options of a move, as those of the command line say. */
export const moveOptionsOf = ({ host, options }: SessionCall): MoveOptions => ({
  clock: host.clock,
  isCopyLost: options["copy-lost"] === true,
});
