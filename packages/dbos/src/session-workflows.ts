import { randomUUID } from "node:crypto";
import { DBOS } from "@dbos-inc/dbos-sdk";
import {
  BuildError,
  effectsAt,
  LogError,
  SessionError,
  systemClock,
  type Agent,
  type AgentInput,
  type EventLog,
} from "@moora/agent";
import { safeErrorListener } from "@moora/agent/internal";
import { appendRecords, type AppendResult, type AppendWork } from "./append-records.ts";
import { checkKey } from "./check-key.ts";
import type { DbosHostOptions, DbosPostOptions } from "./dbos-host.ts";
import { EffectPerformer, type WorkflowEffect } from "./effect-performer.ts";
import { namesOf } from "./engine.ts";
import { isRemoval, type HostedSession } from "./hosted-session.ts";
import { HostedSessions } from "./hosted-sessions.ts";
import { withPostId } from "./recorded-posts.ts";
import { registerQueue } from "./register-queue.ts";
import { registerWorkflow } from "./register-workflow.ts";
import { registerTakeOver } from "./register-take-over.ts";
import { TakeOver } from "./take-over.ts";
import { workflowIdAt } from "./workflow-id.ts";

/** A session as workflows name it. */
type SessionRef = Pick<AppendWork, "id" | "identity">;

/** What the workflow of a post gets. */
interface PostWork extends SessionRef {
  readonly input: AgentInput;
  /** Names the start of the workflow by one process; undefined in a workflow of an earlier release. */
  readonly start?: string;
}

/** What the workflow of a post returns: whether its input applied, or that its session was removed before it was appended. */
type PostResult = boolean | "removed";

/** What the workflow of an effect gets. */
interface EffectWork extends SessionRef {
  readonly effect: WorkflowEffect;
}

const workflowIdOf = (work: EffectWork): string => workflowIdAt(work, work.effect.key);

/**
 * A step is retried while the log is busy or unreachable, and while another process runs the session (a session from before DBOS held
 * leases).
 */
const retries = {
  retriesAllowed: true,
  intervalSeconds: 1,
  backoffRate: 1,
  maxAttempts: Number.MAX_SAFE_INTEGER,
  shouldRetry: (error: unknown): boolean =>
    (error instanceof LogError && (error.code === "LogBusy" || error.code === "LogWrite")) ||
    (error instanceof SessionError && error.code === "SessionBusy"),
};

/** The workflows of the sessions of one agent. */
export class SessionWorkflows {
  readonly sessions: HostedSessions;
  readonly #performer: EffectPerformer;
  readonly #postWorkflow: (work: PostWork) => Promise<PostResult>;
  readonly #effectWorkflow: (work: EffectWork) => Promise<void>;
  /** The starts by this process. A workflow has that of the process that created it, and its first run has not appended its input before. */
  readonly #starts = new Set<string>();
  /** The workflows of effects that run in this process. */
  readonly #running = new Set<string>();
  #hasLaunched = false;

  constructor(agent: Agent<unknown>, options: DbosHostOptions) {
    const { log, takeOver, takeOverPollMs: pollMs = 1_000, onLog } = options;
    const onError = safeErrorListener(options.onError);
    this.#performer = new EffectPerformer(agent, options);
    this.sessions = new HostedSessions({
      agent,
      log,
      clock: systemClock,
      owner: () => DBOS.executorID,
      onLog,
    });
    const { workflows, queue } = namesOf(agent.name);
    this.#postWorkflow = registerWorkflow(agent.name, workflows.post, this.#runPost.bind(this));
    this.#effectWorkflow = registerWorkflow(agent.name, workflows.effect, this.#runEffect.bind(this));
    registerWorkflow(agent.name, workflows.append, (work: AppendWork) => this.#runAppend(log, work));
    DBOS.registerLifecycleCallback({
      initialize: async () => void (this.#hasLaunched = true),
      destroy: async () => undefined,
    });
    registerQueue(queue, onError);
    if (takeOver === undefined) return;
    registerTakeOver(new TakeOver({ pool: takeOver, pollMs, agent: agent.name, onError }), agent.name);
  }

  /** Posts to the session of an id as it is now, or to the next one if that is removed meanwhile. */
  async post(id: string, input: AgentInput, { key, user }: DbosPostOptions): Promise<boolean> {
    // A process that shuts down posts until its workflows have ended.
    if (!this.#hasLaunched && !DBOS.isInitialized())
      throw new BuildError("A post is a workflow of DBOS. Call DBOS.launch() before post.");
    for (;;) {
      const { identity } = await this.sessions.open(id, user);
      const result = await this.#postTo({ id, identity }, input, key);
      if (result !== "removed") return result;
    }
  }

  async #postTo(session: SessionRef, input: AgentInput, key: string | undefined): Promise<PostResult> {
    const workflowID = workflowIdAt(session, `post/${key ?? randomUUID()}`);
    const start = randomUUID();
    this.#starts.add(start);
    try {
      const work = { ...session, input: withPostId(input, workflowID), start };
      const workflow = await DBOS.startWorkflow(this.#postWorkflow, { workflowID })(work);
      if (key !== undefined) await checkKey(workflow, work.input, key);
      return await workflow.getResult();
    } finally {
      this.#starts.delete(start);
    }
  }

  /** The workflow of a post: appends it, and starts what the state wants then. */
  async #runPost(work: PostWork): Promise<PostResult> {
    const { input, start = "" } = work;
    let isNew = this.#starts.delete(start);
    const appended = await this.#inStep("append", work, (session) => {
      const isFirst = isNew;
      isNew = false;
      return session.posts.append(input, isFirst);
    });
    return appended ?? "removed";
  }

  /** The workflow of an append of a log in another process: appends its records, and starts what the state wants then. */
  async #runAppend(log: EventLog, work: AppendWork): Promise<AppendResult> {
    const appended = await this.#inStep("append", work, (session) => appendRecords(log, session, work));
    return appended ?? { type: "removed" };
  }

  /** The workflow of an effect: does its work, and starts what the state wants then. */
  async #runEffect(work: EffectWork): Promise<void> {
    const { effect } = work;
    const workflowID = workflowIdOf(work);
    this.#running.add(workflowID);
    try {
      if (effect.type === "wait-until") {
        await DBOS.sleep(Math.max(0, effect.due - (await DBOS.now())));
        const passed = { type: "deadline-passed", key: effect.key, timestamp: effect.due } as const;
        await this.#inStep("deadline", work, async (session) => (await session.append([passed])).applied);
      } else await this.#inStep("perform", work, (session) => this.#performer.perform(session, effect));
    } finally {
      this.#running.delete(workflowID);
    }
  }

  /** Starts a workflow for each effect. One that was started before is not started again. */
  async #start(wanted: readonly EffectWork[]): Promise<void> {
    for (const work of wanted)
      await DBOS.startWorkflow(this.#effectWorkflow, { workflowID: workflowIdOf(work) })(work);
  }

  /** The effects that the newest state of a session wants and that do not run here. */
  async #wantedWork(id: string, session: HostedSession): Promise<readonly EffectWork[]> {
    const { identity } = session;
    return Object.values(effectsAt(await session.refresh()))
      .flatMap((effect) => (effect.type === "ask-human" ? [] : [{ id, identity, effect }]))
      .filter((work) => !this.#running.has(workflowIdOf(work)));
  }

  /**
   * Runs a step of a session, and starts what the state wants then. Resolves with what `work` does; undefined if the session was
   * removed, also if another one has its id now: the step does nothing then, or no more.
   */
  async #inStep<Result>(
    name: string,
    { id, identity }: SessionRef,
    work: (session: HostedSession) => Promise<Result>,
  ): Promise<Result | undefined> {
    const run = async (): Promise<StepResult<Result>> => {
      const session = await this.sessions.find(id);
      if (session?.identity !== identity) return { wanted: [] };
      const result = await work(session);
      return { result, wanted: await this.#wantedWork(id, session) };
    };
    const { result, wanted } = await DBOS.runStep(() => run().catch(nothingIfRemoved), { name, ...retries });
    await this.#start(wanted);
    return result;
  }
}

/** What a step of a session returns. `wanted`: the effects that it starts. */
interface StepResult<Result> {
  readonly result?: Result;
  readonly wanted: readonly EffectWork[];
}

function nothingIfRemoved(error: unknown): StepResult<never> {
  if (isRemoval(error)) return { wanted: [] };
  throw error;
}
