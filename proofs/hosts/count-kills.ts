import type { ConformanceHost, PreparedHost, ProcessOptions } from "@moora/agent-testing/hosts";

/** How many processes of a host have ended as a crash ends them. */
export interface Kills {
  kills: number;
}

/** A host that counts the kills of its processes, and their deaths at a record. */
export const countKills = (host: ConformanceHost, counted: Kills): ConformanceHost => ({
  ...host,
  prepare: async (setup) => countingKills(await host.prepare(setup), counted),
});

const countingKills = (prepared: PreparedHost, counted: Kills): PreparedHost =>
  new Proxy(prepared, {
    get(target, name) {
      if (name === "kill")
        return async () => {
          counted.kills += 1;
          await target.kill?.();
        };
      if (name === "start")
        return async (options: ProcessOptions = {}) => {
          const { onDeath } = options;
          if (onDeath === undefined) return await target.start(options);
          const died = (): void => {
            counted.kills += 1;
            onDeath();
          };
          await target.start({ ...options, onDeath: died });
        };
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
