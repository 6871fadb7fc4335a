import type { AgentInput } from "@moora/agent";
import { messageIdToPostId, postIdToMessageId } from "@moora/agent-webui-protocol";

/**
 * Other names for digests, and for ids that contain one. The digest of a short text can be guessed: compute it for each text that
 * may be meant, and compare. Equal digests get the same name, so that a decision still matches its question.
 */
export class DigestNames {
  readonly #names = new Map<string, string>();
  readonly #tools = new Map<string, string>();

  /** The name of a digest, of which no other one begins with it. What follows a `#` counts the questions about one call, and stays. */
  nameOf(digest: string): string {
    const count = /#\d+$/.exec(digest)?.[0] ?? "";
    const base = digest.slice(0, digest.length - count.length);
    const name = this.#names.get(base) ?? `redacted_${String(this.#names.size + 1).padStart(8, "0")}`;
    this.#names.set(base, name);
    return `${name}${count}`;
  }

  /** The name of the id of a message. The id of a posted one contains a digest. */
  messageIdOf(id: string): string {
    const postId = messageIdToPostId(id);
    return postId === undefined ? id : postIdToMessageId(this.nameOf(postId));
  }

  /** Learns the calls of an input and its redacted form. In an old log a call without a digest is bound by its name and arguments. */
  learn(input: AgentInput, redacted: AgentInput): void {
    if (input.type === "re-act-observed" && redacted.type === "re-act-observed") {
      const [calls, hidden] = [callsOf(input), callsOf(redacted)];
      for (const [id, { name, parameters, digest }] of Object.entries(calls)) {
        this.#tools.set(id, name);
        if (digest === undefined) this.#bind(name, parameters, hidden[id]?.parameters ?? "");
      }
    }
    if (input.type !== "tool-call-decided" || redacted.type !== "tool-call-decided") return;
    const [{ decision }, { decision: hidden }] = [input, redacted];
    if (decision.type === "modified" && hidden.type === "modified" && decision.digest === undefined)
      this.#bind(this.#tools.get(input.toolCallId) ?? "", decision.parameters, hidden.parameters);
  }

  #bind(tool: string, parameters: string, hidden: string): void {
    this.#names.set(JSON.stringify([tool, parameters]), JSON.stringify([tool, hidden]));
  }
}

const callsOf = ({ observation }: Extract<AgentInput, { type: "re-act-observed" }>) =>
  observation.type === "continue-re-act" ? observation.toolCalls : {};
