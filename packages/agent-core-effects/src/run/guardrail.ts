import type { AgentState } from "@moora/agent-core-state-machine";
import type { AgentAttachment } from "@moora/agent-webui-protocol";
import type { StateContext } from "./host.ts";

/** What a check says of a text that may not pass as it is. */
export type GuardrailVerdict =
  /** The model and people read this text in its place. */
  | { readonly replace: string }
  /** The loop ends with the failure `Blocked`, and the model never reads the text. */
  | { readonly block: string }
  /** The session pauses with this reason. A person resumes it, and the text passes; or cancels the loop, and the model never reads it. */
  | { readonly ask: string };

/** What a check of an answer may say as well: the model answers again, and reads why. */
export type GuardrailAnswerVerdict = GuardrailVerdict | { readonly retry: string };

/** A text that is checked, with where it comes from. */
export interface GuardrailContext extends Pick<
  StateContext,
  "signal" | "idempotencyKey" | "attempt" | "now" | "callTool"
> {
  readonly state: AgentState;
  /** The files beside the text. */
  readonly files: readonly AgentAttachment[];
  /** The call whose result is checked. `parameters` is JSON text. */
  readonly call?: { readonly id: string; readonly name: string; readonly parameters: string };
}

/** A check of a text. Returns nothing if the text may pass. One that throws ends the loop with `HandlerFailed`: what was not checked does not pass. */
export type GuardrailCheck<Said = GuardrailVerdict> = (
  text: string,
  context: GuardrailContext,
) => Said | undefined | Promise<Said | undefined>;

/** Checks of what an agent reads and says. What is absent is not checked. */
export interface Guardrail {
  /** Stands in reasons, failures and the trace. */
  readonly name: string;
  /** Checks each message of a person, and each answer of a person to a question of the agent, before the model reads it. */
  readonly input?: GuardrailCheck;
  /** Checks the result of each tool call, also a failure, before the model reads it. */
  readonly result?: GuardrailCheck;
  /** Checks each answer before the loop ends with it. Viewers of a stream have seen it by then. */
  readonly answer?: GuardrailCheck<GuardrailAnswerVerdict>;
}
