import { DBOS } from "@dbos-inc/dbos-sdk";

/** How often a process with the host looks for posts of logs in other processes, in milliseconds. */
const pollMs = 250;

export interface QueueListeners {
  readonly onLaunch: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Registers a queue when DBOS is launched. Without it, only the posts of logs in other processes wait, and the workflows that are taken
 * over, so that its errors, such as that another application has a queue of this name, do not end the launch.
 */
export function registerQueue(name: string, { onLaunch, onError }: QueueListeners): void {
  DBOS.registerLifecycleCallback({
    initialize: async () => {
      onLaunch();
      await DBOS.registerQueue(name, { minPollingIntervalMs: pollMs }).catch(onError);
    },
    destroy: async () => undefined,
  });
}
