import type { AgentInput } from "@moora/agent";
import { inputTraits } from "@moora/agent-core-state-machine";
import { ClientError } from "./client-error.ts";

/** Throws `Unsupported` for a record with a type that this release does not know. */
export function checkIsKnown(seq: number, { type }: AgentInput): void {
  if (Object.hasOwn(inputTraits, type)) return;
  const message = `Record ${seq} has the type "${type}", which this release does not know. Use the release of the server.`;
  throw new ClientError("Unsupported", message);
}
