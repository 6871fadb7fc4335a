import type { Question } from "@moora/agent";
import { payloadFields } from "./ag-ui-answers.ts";
import { questionText } from "./question-text.ts";
import { textOf, valueOf } from "./ui-chunk.ts";

/** What the payload of an answer to a question may contain. `answerSchema` is JSON text; without one, any text is an answer. */
function payloadSchemaOf(about: Question["about"], answerSchema = "{}"): object {
  const fields: Readonly<Record<(typeof payloadFields)[typeof about][number], unknown>> = {
    approved: { type: "boolean" },
    reason: { type: "string" },
    editedArgs: {},
    answer: valueOf(answerSchema),
  };
  return {
    type: "object",
    properties: Object.fromEntries(payloadFields[about].map((name) => [name, fields[name]])),
    // A question of the model or of a tool is answered, or rejected with approved: false.
    ...(about === "answer" ? {} : { required: ["approved"] }),
    additionalProperties: false,
  };
}

/** The interrupt of a question. One of a sub-agent belongs to the call of the session that leads to it. */
export function questionToInterrupt(asked: Question): object {
  const { digest, about, toolCallId, name, parameters, answerSchema, risk, reason, due } = asked;
  return {
    id: digest,
    reason: about,
    toolCallId: asked.path?.[0] ?? toolCallId,
    message: questionText(asked) ?? `${name}(${textOf(parameters)})`,
    responseSchema: payloadSchemaOf(about, answerSchema),
    metadata: { ...(risk === undefined ? {} : { risk }), reason },
    ...(due === null ? {} : { expiresAt: new Date(due).toISOString() }),
  };
}
