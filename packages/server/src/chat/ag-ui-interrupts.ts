import type { Question } from "@moora/agent";
import { textOf, valueOf } from "./ui-chunk.ts";

/** What the payload of an answer to a question may contain. `answerSchema` is JSON text; without one, any text is an answer. */
const payloadSchemaOf = (answerSchema = "{}"): object => ({
  type: "object",
  properties: {
    approved: { type: "boolean" },
    reason: { type: "string" },
    editedArgs: {},
    answer: valueOf(answerSchema),
  },
});

/** The interrupt of a question. One of a sub-agent belongs to the call of the session that leads to it. */
export const questionToInterrupt = ({
  digest,
  about,
  toolCallId,
  path: [caller = toolCallId] = [],
  name,
  parameters,
  question,
  answerSchema,
  risk,
  reason,
  due,
}: Question): object => ({
  id: digest,
  reason: about,
  toolCallId: caller,
  message: question ?? `${name}(${textOf(parameters)})`,
  responseSchema: payloadSchemaOf(answerSchema),
  metadata: { ...(risk === undefined ? {} : { risk }), reason },
  ...(due === null ? {} : { expiresAt: new Date(due).toISOString() }),
});
