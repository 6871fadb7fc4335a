import { conformanceAgent, remoteWorld, SkippingClock } from "@moora/agent-testing/hosts";
import { sessionObject } from "@moora/cloudflare";

interface Env {
  readonly SESSIONS: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
  /** Where the world of the case answers. */
  readonly WORLD: string;
  readonly RELEASE: string;
  /** How far the clock was moved before this process began, in milliseconds. */
  readonly SKIPPED: string;
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
