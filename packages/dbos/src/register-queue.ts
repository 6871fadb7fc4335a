import { DBOS } from "@dbos-inc/dbos-sdk";

/** How often a process with the host looks for posts of logs in other processes, in milliseconds. */
const pollMs = 250;

/**
 * Registers a queue when DBOS is launched. A failure does not end the launch: it is reported to `onError`. Until the queue exists, posts
 * of `dbosLog` and workflows that were taken over wait.
 */
export function registerQueue(name: string, onError: (error: unknown) => void): void {
  DBOS.registerLifecycleCallback({
    initialize: async () => {
      await DBOS.registerQueue(name, { minPollingIntervalMs: pollMs }).catch(onError);
    },
    destroy: async () => undefined,
  });
}
