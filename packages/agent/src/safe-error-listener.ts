import { callSafely } from "./listeners.ts";

/** A listener that never throws. What the given one throws, or rejects with, is printed after the error. Default: all errors are printed. */
export function safeErrorListener(
  onError: ((error: unknown) => unknown) | undefined,
): (error: unknown) => void {
  if (onError === undefined) return print;
  return (error) =>
    callSafely(
      () => onError(error),
      (thrown) => {
        print(error);
        print(thrown);
      },
    );
}

/** Prints an error, also one that throws when it is inspected. */
function print(error: unknown): void {
  try {
    console.error(error);
  } catch {
    printText("An error that cannot be printed.");
  }
}

function printText(text: string): void {
  try {
    console.error(text);
  } catch {
    // The console does not work.
  }
}
