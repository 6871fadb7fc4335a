import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { answerTextAt, BuildError, exportSession, stateAt } from "@moora/agent";
import { callsSince, hasRun, isSameJson } from "@moora/agent/internal";
import { isObject } from "@moora/agent-core-effects/internal";
import type { EvalResults, EvaluateOptions } from "@moora/agent-testing";
import { textToJson } from "@moora/llm/internal";
import { chooseLlm } from "../choose-llm.ts";
import { CliFailure, usageError } from "../cli-failure.ts";
import { exitCodes, type CliHost, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { loadModule } from "../load-module.ts";
import type { Options } from "../options.ts";
import { plannerNotice } from "../providers.ts";
import { environmentSecrets } from "../secrets.ts";
import { agentOfModule } from "../served-agents.ts";
import { checkPosition, sessionCommand } from "../session/session-call.ts";
import { checkFolderOf, useFile, writeNewFile } from "../session/use-file.ts";
import { Screen } from "../terminal/screen.ts";
import { agentToRerun } from "./rerun.ts";

const addOptions = ["at", "log"] as const;

const runOptions = ["agent", "provider", "model", "base-url", "timeout", "system", "junit"] as const;

const usage = "[folder] | add <session> [folder]";

/** The folder of a data set, unless another one is named. */
const defaultFolder = "evals";

/** Scores an agent on a data set, or adds a session to it. */
export const evalCommand: Command = {
  name: "eval",
  usage,
  summary: "Score an agent on cases (evals), or make a case of a session.",
  options: [...runOptions, ...addOptions, "json", "help"],
  optionHelp: {
    agent: "Your module: the agent, and `evals`: scorers, gate, budget. Default: the recorded agent.",
    system: "The system prompt instead of the recorded one.",
    at: "With add: the record after which the session is run again. Default: 0, the beginning.",
    log: "With add: where sessions are. Default: MOORA_LOG or .moora/sessions.db.",
    json: "Print the result as one JSON object.",
  },
  async run({ args: [first, ...rest], options }, host) {
    const isAdd = first === "add";
    const useless = (isAdd ? runOptions : addOptions).find((name) => options[name] !== undefined);
    const command = isAdd ? "moora eval add" : "moora eval";
    if (useless !== undefined)
      throw usageError(`"${command}" does not take the option --${useless}.`, "Run: moora help eval");
    if (isAdd) return await addCommand.run({ args: rest, options }, host);
    if (rest.length > 0)
      throw usageError(`Too many arguments for "${command}".`, `Usage: moora eval ${usage}`);
    return await evaluateFolder(first ?? defaultFolder, options, host);
  },
};

/** Exports a session, and writes a case that expects what was recorded. */
const addCommand: Command = sessionCommand({
  name: "eval add",
  usage: "<session> [folder]",
  summary: "Add a session to a data set.",
  async run({ log, id, args: [, folder = defaultFolder], options: { at = 0 }, host, print }) {
    const { seq, state } = await stateAt(log, id);
    checkPosition(id, at, seq);
    const { state: start } = await stateAt(log, id, at);
    const tools = callsSince(start, state)
      .filter(hasRun)
      .map(({ name: tool }) => tool);
    const expect = { answer: answerTextAt(state), tools };
    const name = `${id.replaceAll(/[^\w.-]/g, "_")}-${at}`;
    const file = join(folder, `${name}.json`);
    const exported = await exportSession(log, id);
    mkdirSync(resolve(host.cwd, folder), { recursive: true });
    writeNewFile(join(folder, `${name}.jsonl`), host.cwd, exported);
    const text = JSON.stringify({ session: `${name}.jsonl`, at, expect }, null, 2);
    writeNewFile(file, host.cwd, `${text}\n`);
    print({ id, file }, `${file} expects what was recorded. Edit it, then run: moora eval ${folder}`);
    return exitCodes.answered;
  },
});

async function evaluateFolder(folder: string, options: Options, host: CliHost): Promise<ExitCode> {
  const dataset = resolve(host.cwd, folder);
  const hint = `Add a case: moora eval add SESSION ${folder}`;
  if (!existsSync(dataset))
    throw new CliFailure(exitCodes.missing, `The folder ${folder} does not exist. ${hint}`);
  const { junit } = options;
  if (junit !== undefined) checkFolderOf(junit, host.cwd);
  const { evaluate, resultsFile } = await import("@moora/agent-testing");
  const file = join(dataset, resultsFile);
  const before = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  const last = before === undefined ? {} : { last: textToJson(before) ?? "not JSON" };
  const screen = new Screen(host, environmentSecrets(host.env));
  const given = { ...(await partsOf(options, host, screen)), ...last, dataset, clock: host.clock };
  // `evaluate` checks what a module exports and a file contains.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const report = await evaluate(given as unknown as EvaluateOptions).catch((error: unknown) => {
    throw error instanceof BuildError ? usageError(error.message, "") : error;
  });
  const xml = report.toJUnit((text) => screen.withoutSecrets(text));
  if (junit !== undefined) useFile(junit, () => writeFileSync(resolve(host.cwd, junit), xml));
  const text = screen.jsonText(report, 2);
  // A file that is committed differs only where results do.
  const isSame =
    before !== undefined && isSameJson(withoutTimes(JSON.parse(text)), withoutTimes(JSON.parse(before)));
  if (report.ok && !isSame) useFile(file, () => writeFileSync(file, `${text}\n`));
  if (options.json === true) screen.json(report);
  else screen.result(`${report.toText()}\n`);
  return report.ok ? exitCodes.answered : exitCodes.failed;
}

/** What is compared with the last run: all but the times. */
const withoutTimes = (results: EvalResults): EvalResults => ({
  ...results,
  latencyMs: 0,
  cases: results.cases.map((each) => ({ ...each, latencyMs: 0 })),
});

/** The options that the module of `--agent` exports, with its agent; otherwise the agent of each session. */
async function partsOf(options: Options, host: CliHost, screen: Screen): Promise<object> {
  const { agent: file } = options;
  if (file !== undefined) {
    const { evals } = await loadModule(file, host.cwd, "--agent needs a module that exports an agent.");
    if (evals !== undefined && !isObject(evals))
      throw usageError(`evals of ${file} must be an object.`, "Export: evals = { scorers, gate, budget }");
    return { ...evals, ...(await agentOfModule(options, host, file)) };
  }
  // What is missing is found before the first case.
  if (!chooseLlm(options, host.env).provider.needsModel) screen.dim(plannerNotice);
  const agent: EvaluateOptions["agent"] = async (each, recorded) =>
    recorded === undefined
      ? (await agentOfModule(options, host, each.name)).agent
      : await agentToRerun(options, host, recorded);
  return { agent };
}
