import { availableParallelism, loadavg } from "node:os";

/** What a reader of figures must know of the machine: other work makes durable rows slower, and all rows spread. */
export const machineText = (): string =>
  `${availableParallelism()} cores, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)} at the end.`;
