/**
 * For `beforeAll`: the returned function fails the tests of a file during which the driver of PostgreSQL warned of how it is used,
 * such as of a statement that is sent while others of its connection wait.
 */
export function failOnDriverWarnings(): () => void {
  const warnings: Error[] = [];
  const listen = (warning: Error): void => {
    if (isOfDriver(warning)) warnings.push(warning);
  };
  process.on("warning", listen);
  return () => {
    process.off("warning", listen);
    if (warnings.length > 0) throw new AggregateError(warnings, "The driver of PostgreSQL has warned.");
  };
}

/** Whether a warning is one of a deprecated use of a connection, or of listeners that are added to one again and again. */
const isOfDriver = ({ name, message }: Error): boolean =>
  (name === "DeprecationWarning" && /\bclient\.query\(\)/i.test(message)) ||
  (name === "MaxListenersExceededWarning" && message.includes("[Client]"));
