import type { Decision, Question } from "@moora/agent";
import * as z from "zod/mini";
import type { AnsweredQuestion, UserMessage } from "./chat-request.ts";
import { partsToContent } from "./ag-ui-files.ts";
import { HttpProblem } from "../problem.ts";

const id = z.string().check(z.minLength(1), z.maxLength(200));

const contentPartSchema = z.looseObject({ type: z.string() });

const payloadSchema = z.looseObject({
  approved: z.optional(z.boolean()),
  reason: z.optional(z.string()),
  editedArgs: z.optional(z.unknown()),
  answer: z.optional(z.unknown()),
});

/** The schema of a `RunAgentInput`, as far as it counts. The log has the conversation and the state. */
export const runInputSchema = z.looseObject({
  threadId: id,
  runId: id,
  messages: z.array(
    z.looseObject({
      id,
      role: z.string(),
      content: z.optional(z.union([z.string(), z.array(contentPartSchema)])),
    }),
  ),
  resume: z.optional(
    z.array(
      z.looseObject({
        interruptId: z.string(),
        status: z.enum(["resolved", "cancelled"]),
        payload: z.optional(payloadSchema),
      }),
    ),
  ),
});

type RunInput = z.infer<typeof runInputSchema>;

/** The new message of a run. Throws `refused` if the last message is not one of the user, or has a part of another type. */
export function newMessageOf({ messages }: RunInput): UserMessage {
  const last = messages.at(-1);
  if (last?.role !== "user")
    throw new HttpProblem("refused", "The last message must have the role user.", { path: "messages" });
  const { content: given = "" } = last;
  const { content, ...files } = typeof given === "string" ? { content: given } : partsToContent(given);
  return { messageId: last.id, content: content.toWellFormed(), ...files };
}

/** The answers to the interrupts of the run before, as far as these are still open. */
export const resumedAnswersOf = (
  { resume = [] }: RunInput,
  open: readonly Question[],
): readonly AnsweredQuestion[] =>
  resume.flatMap(({ interruptId, status, payload = {} }) => {
    const question = open.find(({ digest }) => digest === interruptId);
    if (question === undefined) return [];
    return [{ question, decision: decisionOf(question, status === "cancelled", payload) }];
  });

function decisionOf(
  { about }: Question,
  isCanceled: boolean,
  { approved, reason, editedArgs, answer }: z.infer<typeof payloadSchema>,
): Decision {
  const isRefused = isCanceled || approved === false;
  if (about === "outcome") {
    if (!isRefused) return { outcome: "run-again" };
    return { outcome: "unknown", ...(reason === undefined ? {} : { reason }) };
  }
  if (isRefused) return { reject: reason ?? "The user refused." };
  if (about === "answer") return { answer: answer ?? null };
  return editedArgs === undefined ? "approve" : { approve: editedArgs };
}
