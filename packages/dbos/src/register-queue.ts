import { DBOS } from "@dbos-inc/dbos-sdk";

/** How often a process with the host looks for posts of logs in other processes, in milliseconds. */
const pollMs = 250;

/**
 * Registers a queue when DBOS is launched. Without it, only the posts of logs in other processes wait, so that its errors, such as that
 * another application has a queue of this name, do not end the launch.
 */
export function registerQueue(name: string, onError: (error: unknown) => void): void {
  DBOS.registerLifecycleCallback({
    initialize: async () => {
      await DBOS.registerQueue(name, { minPollingIntervalMs: pollMs }).catch(onError);
    },
    destroy: async () => undefined,
  });
}
