import { userMessage, type AgentInput } from "@moora/agent";
import type { PreparedHost } from "./host.ts";
import { HostNotConforming } from "./host-case.ts";

/** The session to which a case posts, and the time of its inputs. */
interface Target {
  readonly host: Pick<PreparedHost, "post">;
  readonly id: string;
  readonly timestamp: number;
}

/** How often an input is posted at once, the last time from `from`. */
interface Repetition {
  readonly times: number;
  readonly from?: "elsewhere" | undefined;
}

/** Posts one input several times at once. Throws unless exactly one of them applies. */
export async function postAtOnce(
  { host, id }: Target,
  input: AgentInput,
  { times, from }: Repetition,
): Promise<void> {
  const posts = Array.from({ length: times }, (_, index) =>
    host.post(id, input, ...(from !== undefined && index === times - 1 ? [from] : [])),
  );
  const applied = (await Promise.all(posts)).filter((hasApplied) => hasApplied).length;
  if (applied !== 1)
    throw new HostNotConforming(`Of ${times} equal inputs of type ${input.type}, ${applied} applied.`);
}

/** Posts what does not apply to a session whose loop has ended. Throws for an input that is reported as applied. */
export async function postIgnored(target: Target, lastMessageId: string): Promise<void> {
  for (const [what, input] of Object.entries(ignoredInputs(target, lastMessageId))) {
    if (await target.host.post(target.id, input))
      throw new HostNotConforming(`${what} does not apply, and the host reports that it has.`);
  }
}

/** Posts what no caller may post. Throws for an input that is reported as applied. */
export async function postRefused(target: Target): Promise<void> {
  for (const [what, input] of Object.entries(refusedInputs(target))) {
    if (await target.host.post(target.id, input).catch(() => false))
      throw new HostNotConforming(`${what} must be refused, and the host reports that it has applied.`);
  }
}

const ignoredInputs = ({ timestamp }: Target, messageId: string): Readonly<Record<string, AgentInput>> => ({
  "A message with the id of an earlier one": userMessage("Again.", { messageId, timestamp }),
  "A cancel without a loop": { type: "re-act-cancelled", timestamp },
  "A resume without a pause": { type: "session-resumed", timestamp },
  "A decision without a question": {
    type: "tool-call-decided",
    toolCallId: "call_99",
    digest: "none",
    decision: { type: "approved" },
    by: "reviewer",
    timestamp,
  },
});

const refusedInputs = ({ timestamp }: Target): Readonly<Record<string, AgentInput>> => ({
  "A result of the model": {
    type: "llm-call-failed",
    key: "plan/1/1/1",
    failure: { kind: "server", message: "No.", retryable: false },
    timestamp,
  },
  "The start of a call": { type: "tool-call-started", toolCallId: "call_1", attempt: 1, timestamp },
  "A message without an id": { type: "user-message-received", messageId: "", content: "Two.", timestamp },
});
