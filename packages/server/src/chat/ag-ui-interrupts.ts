import type { Question } from "@moora/agent";
import { textOf } from "./ui-chunk.ts";

/** What the payload of an answer to a question may contain. */
const payloadSchema = {
  type: "object",
  properties: {
    approved: { type: "boolean" },
    reason: { type: "string" },
    editedArgs: {},
    answer: {},
  },
} as const;

/** The interrupt of a question. One of a sub-agent belongs to the call of the session that leads to it. */
export const questionToInterrupt = ({
  digest,
  about,
  toolCallId,
  path: [caller = toolCallId] = [],
  name,
  parameters,
  question,
  risk,
  reason,
  due,
}: Question): object => ({
  id: digest,
  reason: about,
  toolCallId: caller,
  message: question ?? `${name}(${textOf(parameters)})`,
  responseSchema: payloadSchema,
  metadata: { ...(risk === undefined ? {} : { risk }), reason },
  ...(due === null ? {} : { expiresAt: new Date(due).toISOString() }),
});
