let isListening = false;

/**
 * Fails the tests of this process with an uncaught error when the driver of PostgreSQL warns of how it is used, such as of a statement
 * that is sent while others of its connection wait.
 */
export function failOnDriverWarnings(): void {
  if (isListening) return;
  isListening = true;
  process.on("warning", (warning) => {
    if (isOfDriver(warning)) throw new Error(`Unexpected warning: ${warning.stack ?? warning.message}`);
  });
}

/** Whether a warning is one of a deprecated use of a connection, or of listeners that are added to one again and again. */
const isOfDriver = ({ name, message }: Error): boolean =>
  (name === "DeprecationWarning" && /\bclient\.query\(\)/i.test(message)) ||
  (name === "MaxListenersExceededWarning" && message.includes("[Client]"));
