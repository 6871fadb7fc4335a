import { LogError, type LogErrorCode } from "@moora/event-log";

/** Resolves with the result of the work, or with `otherwise` if it rejects with `code`. Default: the session was removed meanwhile. */
export async function unlessRemoved<Value, Other>(
  work: () => Promise<Value>,
  otherwise: Other,
  code: LogErrorCode = "LogRemoved",
): Promise<Value | Other> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LogError && error.code === code) return otherwise;
    throw error;
  }
}
