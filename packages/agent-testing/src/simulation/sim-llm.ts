import type { LlmCallOptions, LlmCaller, LlmOutcome, LlmRequest } from "@moora/llm";
import type { PendingLlm } from "./pending.ts";

/** Where a model is called. */
type LlmOf = Pick<PendingLlm, "host" | "within">;

/** A model whose calls wait until an action answers them. It honors its signal, as the port demands. */
export const simLlm = (of: LlmOf, wait: (pending: PendingLlm) => void): LlmCaller => ({
  name: "simulated",
  call: (request: LlmRequest, options: LlmCallOptions = {}) =>
    new Promise<LlmOutcome>((answer, reject) => {
      const pending: PendingLlm = { type: "llm", ...of, request, options, answer, reject, streamed: "" };
      wait(pending);
      options.signal?.addEventListener("abort", () => answer(abortedOutcome(pending.streamed)), {
        once: true,
      });
    }),
});

const abortedOutcome = (partial: string): LlmOutcome => ({
  ok: false,
  failure: { kind: "aborted", message: "Aborted.", retryable: false },
  partial,
});
