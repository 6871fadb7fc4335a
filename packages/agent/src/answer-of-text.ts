/** The answer of an agent that is not known here: the text, or its JSON value if the agent has a schema. The agent has checked it. */
export const answerOfText = (text: string, schema: string | null): unknown =>
  schema === null ? text : JSON.parse(text);
