import type { Recipe } from "@moora/agent";
import type { OptionForms } from "@moora/agent-core-effects/internal";
import type { Dialects } from "../laws/request-laws.ts";
import type { OwnDraws } from "./draws.ts";
import type { Invariants } from "./invariants.ts";
import { toLiteral } from "./to-literal.ts";

/** Where the agent and the options of a simulation can be imported from. */
export interface SimulationSource {
  /** A path, from the working directory, or a URL, as `import.meta.url`. */
  readonly module: string;
  /** The name by which the module exports the agent. Default: "agent". */
  readonly agent?: string;
  /** The name by which the module exports the options. Default: "options". */
  readonly options?: string;
}

/** Options of `simulate`. `simulateActions` takes those that do not draw. */
export interface SimulateOptions extends OwnDraws {
  /** Default: 1. The session with number n, counted from 0, has the seed `seed + n`. */
  readonly seed?: number;
  /** Sessions to simulate. Default: 100. */
  readonly runs?: number;
  /** The number of actions in a session before the faults stop. Default: 40. */
  readonly length?: number;
  /**
   * The faults that may come, by name (`llm:refusal`) or by family, the part before the colon (`write`). Default: all.
   * What comes always, such as `llm:plain`, is accepted as a name. Throws `BuildError` for an unknown name.
   */
  readonly faults?: readonly string[];
  /** Your own invariants by name, checked after every action. */
  readonly invariants?: Invariants;
  /**
   * What providers would refuse, by name. Every request is held to these beside the rules that all providers share.
   * Default: those of `@moora/agent-testing/dialects`, where the adapters are installed.
   */
  readonly dialects?: Dialects;
  /** Whether limits and policies are drawn anew for each session. Default: no, the agent is simulated as it is. */
  readonly drawsConfig?: boolean;
  /**
   * The tools that are executed, all or by name, at the instant at which they begin to run. What they return is
   * delivered later, or lost in a crash. They must need neither time nor network. Default: none; results are drawn.
   */
  readonly execute?: boolean | readonly string[];
  /**
   * Recipes with which the application changes the data of the agent, by an owner or a poster, at any time. Give those of your
   * application. Default: none.
   */
  readonly updates?: readonly Recipe<never>[];
  /**
   * What the tools and handlers of the agent need of their process, as `openSession` takes it: every host of a simulated session
   * gives it. Required if a tool that needs it is executed, or a handler needs it. Default: none.
   */
  readonly context?: object;
  /** Called before each session: resets what executed tools and invariants keep. */
  readonly beforeEach?: () => void | Promise<void>;
  /** The interval, in inputs, at which the laws whose cost depends on the size of the state are checked. Default: 8. */
  readonly thoroughEvery?: number;
  /** Where the agent and these options can be imported from: needed by `writeTo`, and by the test in the report. */
  readonly source?: SimulationSource;
  /** The folder that the found failure is written to as a test to keep; needs `source`. Default: nowhere. */
  readonly writeTo?: string;
}

/** What the options of `simulate` must be. Those of another count or name would test less than they seem to. */
export const simulateForms: OptionForms<SimulateOptions> = {
  seed: { expectation: "an integer", fits: Number.isSafeInteger },
  runs: "positiveInteger",
  length: "positiveInteger",
  faults: "texts",
  invariants: "object",
  dialects: "object",
  drawsConfig: "boolean",
  execute: {
    expectation: "true, false or a list of names of tools",
    fits: (value) => typeof value === "boolean" || Array.isArray(value),
  },
  updates: { expectation: "a list of recipes", fits: Array.isArray },
  context: "any",
  beforeEach: "function",
  thoroughEvery: "positiveInteger",
  source: "object",
  writeTo: "string",
  draw: "object",
  drawResults: "object",
  texts: {
    expectation: "a list of messages, at least one",
    fits: (value) => Array.isArray(value) && value.length > 0,
  },
};

/** Default of `thoroughEvery`. */
export const defaultThoroughEvery = 8;

/** Options that are code: a report can name them, not print them. */
export const codeOptions = [
  "invariants",
  "dialects",
  "beforeEach",
  "updates",
  "context",
  "draw",
  "drawResults",
] as const;

/** Options that are data, which a report prints, but for those that choose the sessions. */
const dataOptions = ["length", "faults", "texts", "drawsConfig", "execute", "thoroughEvery"] as const;

/**
 * A line of code that simulates the session of a seed again. Options that are data are printed. Options that are code
 * are named: by the module that exports them, or each by its own name.
 */
export function reproduceLine(seed: number, options: SimulateOptions): string {
  const data = dataOptions.flatMap((name) =>
    options[name] === undefined ? [] : [`${name}: ${toLiteral(options[name])}`],
  );
  const code = codeOptions.filter((name) => options[name] !== undefined);
  const { source } = options;
  const { agent = "agent", options: named = "options" } = source ?? {};
  const given = source === undefined || code.length === 0 ? code : [`...${named}`];
  return `await simulate(${agent}, { ${[...given, `seed: ${seed}`, "runs: 1", ...data].join(", ")} })`;
}
