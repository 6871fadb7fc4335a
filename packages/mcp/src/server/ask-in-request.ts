import type { ServerContext } from "@modelcontextprotocol/server";
import { isJsonObject } from "@moora/llm/internal";
import type { FormAnswer } from "./question-form.ts";
import type { AnsweredQuestion, AskedQuestion } from "./run-round.ts";

/** How long a person may take to decide within a request, in seconds: one day. After that the call is made again with its session. */
const decisionSeconds = 24 * 60 * 60;

/** What a person did with a form, as the protocol has it. */
export const toFormAnswer = (action: FormAnswer["action"], content: unknown): FormAnswer =>
  action === "accept" ? { action, content: isJsonObject(content) ? content : {} } : { action };

/**
 * Asks a person within the request of a call, as the older protocol does. If the client fails to ask a question, or a person takes
 * longer than a day, that question and those still open count as closed unanswered. Undefined if there is no answer at all, or if the
 * call has ended.
 */
export async function askInRequest(
  questions: readonly AskedQuestion[],
  { mcpReq }: ServerContext,
): Promise<readonly AnsweredQuestion[] | undefined> {
  const round = new AbortController();
  const signal = AbortSignal.any([mcpReq.signal, round.signal]);
  const ask = async ({ form, ...question }: AskedQuestion): Promise<AnsweredQuestion> => {
    const params = { mode: "form", message: form.message, requestedSchema: form.schema };
    const request = { method: "elicitation/create", params } as const;
    try {
      const { action, content } = await mcpReq.send(request, { signal, timeout: decisionSeconds * 1_000 });
      return { ...question, answer: toFormAnswer(action, content) };
    } catch {
      // The forms beside the one that failed are closed.
      round.abort();
      return { ...question, answer: { action: "cancel" } };
    }
  };
  const answers = await Promise.all(questions.map(ask));
  const isAnswered = answers.some(({ answer }) => answer.action !== "cancel");
  const hasFailed = round.signal.aborted && !isAnswered;
  return hasFailed || mcpReq.signal.aborted ? undefined : answers;
}
