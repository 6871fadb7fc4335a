/** The text of a thrown value for models and logs: the message of an error, any other value as JSON. Well-formed, not blank. */
export function errorText(error: unknown): string {
  try {
    const text = textOf(error);
    return text.trim() === "" ? "It failed without a message." : text.toWellFormed();
  } catch {
    return "It threw something that cannot be read.";
  }
}

/** Recognizes errors by their message: `instanceof Error` is false for those of another realm. */
function textOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error);
  if ("message" in error && typeof error.message === "string")
    return error.message === "" && "name" in error ? String(error.name) : error.message;
  return JSON.stringify(error) ?? "";
}
