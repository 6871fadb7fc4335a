import { conformanceAgent, remoteWorld, SkippingClock, type CommitDeath } from "@moora/agent-testing/hosts";
import { sessionObject, type ObjectState } from "@moora/cloudflare";
import { dyingState } from "./dying-state.ts";

interface Env {
  readonly SESSIONS: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
  /** Where the world of the case answers. */
  readonly WORLD: string;
  readonly RELEASE: string;
  /** How far the clock was moved before this process began, in milliseconds. */
  readonly SKIPPED: string;
  /** Where this process ends, as JSON: a `CommitDeath`, or null. */
  readonly DEATH: string;
}

/** The clock of the object in this process. */
let clock: SkippingClock | undefined;

function clockOf({ SKIPPED }: Env): SkippingClock {
  if (clock !== undefined) return clock;
  clock = new SkippingClock();
  void clock.pass(Number(SKIPPED));
  return clock;
}

const Base = sessionObject<Env>({
  agent: ({ WORLD, RELEASE }) => conformanceAgent(remoteWorld(WORLD), Number(RELEASE)),
  clock: clockOf,
  heartbeatMs: 500,
  onError: () => undefined,
});

/** The object of the session, whose clock can be moved. The alarms of the platform do not follow that clock, so it fires them. */
export class Sessions extends Base {
  constructor(state: ObjectState, env: Env) {
    const death: CommitDeath | null = JSON.parse(env.DEATH);
    // The answer does not come: the process ends.
    const die = (): void => void fetch(`${env.WORLD}death`).catch(() => undefined);
    super(death === null ? state : dyingState(state, death, die), env);
  }

  override async fetch(request: Request): Promise<Response> {
    const [, ms] = /\/pass\/(\d+)$/.exec(request.url) ?? [];
    if (ms === undefined) return await super.fetch(request);
    await clock?.pass(Number(ms));
    await this.alarm();
    return new Response("ok");
  }
}

export default {
  async fetch(request: Request, { SESSIONS }: Env): Promise<Response> {
    const [, id = ""] = /\/sessions\/([^/]+)/.exec(request.url) ?? [];
    return await SESSIONS.getByName(id).fetch(request);
  },
};
