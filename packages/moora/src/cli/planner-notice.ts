/** What a user reads where the planner answers. */
export const plannerNotice: string =
  "The planner answers: a deterministic stand-in, not a language model. It picks tools by the words of a request and " +
  "quotes their results. For a model set an API key, such as OPENAI_API_KEY or ANTHROPIC_API_KEY, and use --model.";
