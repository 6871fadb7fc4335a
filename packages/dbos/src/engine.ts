/** The owner of the sessions that DBOS runs: the holder of their leases, without end. */
export const dbosEngine = "DBOS";

/** The names of what a host registers with DBOS for an agent of this name. */
export const namesOf = (agent: string) => ({
  workflows: {
    post: `moora.${agent}.post`,
    effect: `moora.${agent}.effect`,
    append: `moora.${agent}.append`,
  },
  /** The queue of the workflows that logs in other processes start. */
  queue: `moora.${agent}`,
});
