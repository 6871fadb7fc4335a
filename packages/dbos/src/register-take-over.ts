import { DBOS } from "@dbos-inc/dbos-sdk";
import { registerDataSource } from "@dbos-inc/dbos-sdk/datasource";
import type { TakeOver } from "./take-over.ts";

/**
 * Starts and stops a take-over with DBOS. A shutdown of DBOS ends its lifecycle callbacks before it waits for the workflows of the
 * process, and its data sources after that. The lock must outlast the workflows, so its end is that of a data source without data.
 */
export function registerTakeOver(takeOver: TakeOver, agent: string): void {
  DBOS.registerLifecycleCallback({ initialize: () => takeOver.start(), destroy: () => takeOver.stop() });
  registerDataSource({
    name: `moora.${agent}.take-over`,
    initialize: async () => undefined,
    destroy: async () => takeOver.release(),
    invokeTransactionFunction: () => Promise.reject(new Error("The take-over has no transactions.")),
  });
}
