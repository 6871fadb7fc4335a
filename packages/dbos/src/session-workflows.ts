import { randomUUID } from "node:crypto";
import { DBOS, type WorkflowHandle } from "@dbos-inc/dbos-sdk";
import {
  BuildError,
  effectsAt,
  releaseInputs,
  systemClock,
  type Agent,
  type AgentInput,
  type EventLog,
} from "@moora/agent";
import { safeErrorListener } from "@moora/agent/internal";
import { appendRecords, type AppendResult, type AppendWork } from "./append-records.ts";
import { recordedInput } from "./recorded-input.ts";
import type { DbosHostOptions, DbosPostOptions } from "./dbos-options.ts";
import { performEffectIn, type WorkflowEffect } from "./effect-performer.ts";
import { namesOf } from "./engine.ts";
import { HostedSessions, isRemoval, type HostedSession } from "./hosted-sessions.ts";
import { withPostId } from "./recorded-posts.ts";
import { registerQueue } from "./register-queue.ts";
import { registerWorkflow } from "./register-workflow.ts";
import { registerTakeOver } from "./register-take-over.ts";
import { isDataRefusal, isTransient, retries, retryOfEffect } from "./step-retries.ts";
import { TakeOver } from "./take-over.ts";
import { workflowIdAt } from "./workflow-id.ts";

/** A session as workflows name it. */
type SessionRef = Pick<AppendWork, "id" | "identity">;

/** What the workflow of a post gets. */
interface PostWork extends SessionRef {
  readonly input: AgentInput;
  /** Names the start of the workflow by one process; undefined for a post that was refused before, and in a workflow of an earlier release. */
  readonly start?: string;
}

/** What the workflow of a post returns: whether its input applied, or that its session was removed before it was appended. */
type PostResult = boolean | "removed";

/** What the workflow of an effect gets. */
interface EffectWork extends SessionRef {
  readonly effect: WorkflowEffect;
  /** The process whose step wanted the effect; undefined in a workflow of an earlier release. */
  readonly process?: string;
}

const workflowIdOf = (work: EffectWork): string => workflowIdAt(work, work.effect.key);

/** A part of the work on a session, in a step of a workflow. */
type SessionWork<Result> = (session: HostedSession) => Promise<Result>;

/** The workflows of the sessions of one agent. */
export class SessionWorkflows {
  readonly sessions: HostedSessions;
  readonly #options: DbosHostOptions;
  readonly #postWorkflow: (work: PostWork) => Promise<PostResult>;
  readonly #effectWorkflow: (work: EffectWork) => Promise<void>;
  /** The starts by this process. A workflow has that of the process that created it, and its first run has not appended its input before. */
  readonly #starts = new Set<string>();
  /** The workflows of effects that run in this process. */
  readonly #running = new Set<string>();
  readonly #agent: Agent<unknown>;
  readonly #onError: (error: unknown) => void;
  /** Names this process in the effects that its steps want. */
  readonly #process = randomUUID();
  #hasLaunched = false;

  constructor(agent: Agent<unknown>, options: DbosHostOptions) {
    const { log, takeOver, takeOverPollMs: pollMs = 1_000, onLog } = options;
    const onError = safeErrorListener(options.onError);
    this.#agent = agent;
    this.#onError = onError;
    this.#options = options;
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
    const name = key ?? randomUUID();
    const workflowID = workflowIdAt(session, `post/${name}`);
    const start = randomUUID();
    this.#starts.add(start);
    try {
      const work = { ...session, input: withPostId(input, workflowID), start };
      const workflow = await DBOS.startWorkflow(this.#postWorkflow, { workflowID })(work);
      const recorded = key === undefined ? work.input : await recordedInput(workflow, work.input, key);
      return (await this.#resultOf(session, workflow)) ?? (await this.#postAgain(session, recorded, name));
    } finally {
      this.#starts.delete(start);
    }
  }

  /** Makes a post again that other processes have refused. It is the same post, which may be in the log. */
  async #postAgain(session: SessionRef, input: AgentInput, name: string): Promise<PostResult> {
    for (let time = 2; ; time += 1) {
      const workflowID = workflowIdAt(session, `post-again/${time}/${name}`);
      const workflow = await DBOS.startWorkflow(this.#postWorkflow, { workflowID })({ ...session, input });
      const result = await this.#resultOf(session, workflow);
      if (result !== undefined) return result;
    }
  }

  /**
   * The result of a post. Undefined for one that a process of another release has refused, because it cannot use the data of the session:
   * that is not the answer of its key. Rejects with `DataRefused` if this process cannot use the data either.
   */
  async #resultOf(
    { id, identity }: SessionRef,
    workflow: Pick<WorkflowHandle<PostResult>, "getResult">,
  ): Promise<PostResult | undefined> {
    try {
      return await workflow.getResult();
    } catch (error) {
      if (!isDataRefusal(error)) throw error;
      const session = await this.sessions.find(id);
      if (session?.identity === identity) releaseInputs(this.#agent, session.current(), systemClock.now());
      return undefined;
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
      const isWait = effect.type === "wait-until";
      if (isWait) await DBOS.sleep(Math.max(0, effect.due - (await DBOS.now())));
      const perform: SessionWork<void> = (session) =>
        performEffectIn(this.#agent, session, effect, this.#options);
      await this.#inEffect(isWait ? "deadline" : "perform", work, perform);
    } finally {
      this.#running.delete(workflowID);
    }
  }

  /**
   * Runs the step of an effect. One that another process wanted is continued under the rules of this release, which are recorded first. A
   * process whose release cannot use the session keeps its effects until it ends, for one that can.
   */
  async #inEffect(name: string, work: EffectWork, run: SessionWork<unknown>): Promise<void> {
    const continued: SessionWork<unknown> = async (session) => {
      if (work.process !== this.#process) await session.configure();
      return await run(session);
    };
    await this.#inStep(name, work, continued, retryOfEffect(this.#onError));
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
      .flatMap((effect) =>
        effect.type === "ask-human" ? [] : [{ id, identity, effect, process: this.#process }],
      )
      .filter((work) => !this.#running.has(workflowIdOf(work)));
  }

  /**
   * Runs a step of a session, and starts what the state wants then. Resolves with what `work` does; undefined if the session was
   * removed, also if another one has its id now: the step does nothing then, or no more.
   */
  async #inStep<Result>(
    name: string,
    { id, identity }: SessionRef,
    work: SessionWork<Result>,
    shouldRetry = isTransient,
  ): Promise<Result | undefined> {
    const run = async (): Promise<StepResult<Result>> => {
      const session = await this.sessions.find(id);
      if (session?.identity !== identity) return { wanted: [] };
      const result = await work(session);
      return { result, wanted: await this.#wantedWork(id, session) };
    };
    const { result, wanted } = await DBOS.runStep(() => run().catch(nothingIfRemoved), {
      name,
      shouldRetry,
      ...retries,
    });
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
