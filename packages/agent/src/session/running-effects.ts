import { effectsAt, type AgentEffect } from "@moora/agent-core-effects";
import { isEffectWanted, isHeld } from "@moora/agent-core-effects/internal";
import type { AgentState } from "@moora/agent-core-state-machine";
import type { MachineBase, MachineHooks } from "./machine.ts";

const isWork: Readonly<Record<AgentEffect["type"], boolean>> = {
  "call-llm": true,
  "call-tool": true,
  "probe-tool": true,
  "run-state": true,
  "ask-human": false,
  "wait-until": false,
};

type HoldHooks = Pick<MachineHooks, "heldAbove" | "reconcile">;

/** The running effects, and those that this host may run for a state. */
export class RunningEffects {
  readonly #base: Pick<MachineBase, "runsEffects" | "startsEffects">;
  readonly #hooks: HoldHooks;
  /** Whether held effects wait for the sessions above. */
  #isWaiting = false;
  readonly #running = new Map<string, AgentEffect>();
  #onDrained: (() => void)[] = [];

  constructor(base: Pick<MachineBase, "runsEffects" | "startsEffects">, hooks: HoldHooks) {
    this.#base = base;
    this.#hooks = hooks;
  }

  /** Whether new effects of a state may start now. */
  startsEffects(state: AgentState): boolean {
    return this.#base.startsEffects?.(state) ?? true;
  }

  /** The effects of a state that this host runs. While it may not start effects, only those that already run. */
  wantedAt(state: AgentState): Readonly<Record<string, AgentEffect>> {
    const { runsEffects } = this.#base;
    if (!runsEffects) return {};
    const wanted = effectsAt(state);
    const isHeldAbove = this.#isHeldAbove();
    const startsAny = this.startsEffects(state);
    if (startsAny && !isHeldAbove) return wanted;
    const starts = (effect: AgentEffect): boolean => startsAny && !isHeld(effect, state);
    return Object.fromEntries(
      Object.entries(wanted).filter(([key, effect]) => this.#running.has(key) || starts(effect)),
    );
  }

  /** Whether the sessions above hold new effects, which start when they do not anymore. */
  #isHeldAbove(): boolean {
    const held = this.#hooks.heldAbove(false);
    if (held === undefined) return false;
    if (!this.#isWaiting) {
      void held.then(() => {
        this.#isWaiting = false;
        this.#hooks.reconcile();
      });
    }
    return (this.#isWaiting = true);
  }

  /** Whether a state wants the effect of a key that has started. One that has ended may have left inputs. */
  isWanted(key: string, state: AgentState): boolean {
    const effect = this.#running.get(key);
    return effect === undefined ? Object.hasOwn(this.wantedAt(state), key) : isEffectWanted(state, effect);
  }

  add(key: string, effect: AgentEffect): void {
    this.#running.set(key, effect);
  }

  remove(key: string): void {
    this.#running.delete(key);
    if (this.#onDrained.length === 0 || this.#isWorking) return;
    for (const resolve of this.#onDrained.splice(0)) resolve();
  }

  /** Resolves when all running work has ended: calls of models and tools and custom states, not waits and questions. */
  drained(): Promise<void> {
    if (!this.#isWorking) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onDrained.push(resolve);
    });
  }

  get #isWorking(): boolean {
    return [...this.#running.values()].some(({ type }) => isWork[type]);
  }
}
