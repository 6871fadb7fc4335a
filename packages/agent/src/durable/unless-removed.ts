import { LogError } from "@moora/event-log";

/** Resolves with the result of the work, or with `otherwise` if the session was removed meanwhile. */
export async function unlessRemoved<Value, Other>(
  work: () => Promise<Value>,
  otherwise: Other,
): Promise<Value | Other> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LogError && error.code === "LogRemoved") return otherwise;
    throw error;
  }
}
