/** What was thrown, as text that a model and a log can take: the message of an error, anything else as JSON. */
export function errorText(error: unknown): string {
  try {
    const text = textOf(error);
    return text.trim() === "" ? "It failed without a message." : text.toWellFormed();
  } catch {
    return "It threw something that cannot be read.";
  }
}

/** Errors are known by their message: those of another realm are no `instanceof Error`. */
function textOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error);
  if ("message" in error && typeof error.message === "string")
    return error.message === "" && "name" in error ? String(error.name) : error.message;
  return JSON.stringify(error) ?? "";
}
