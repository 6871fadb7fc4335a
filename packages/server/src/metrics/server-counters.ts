/** The counters of a server, with the names and the help texts that Prometheus shows. */
const counters = {
  moora_http_responses_total: "Responses by status.",
  moora_posts_total: "Posts by kind and result: accepted, ignored or failed.",
  moora_takeovers_total: "Open sessions that this server runs since their owner has ended.",
  moora_streams_dropped_total: "Streams that were closed because their reader took nothing.",
  moora_worker_sessions_total: "Sessions that the worker has opened, by result: settled, busy or failed.",
} as const;

type CounterName = keyof typeof counters;

/** The labels of a count. Their values come from small closed sets, so that the number of series is bounded. */
type Labels = Readonly<Record<string, string | number>>;

/** A value that is read when the metrics are. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly value: number;
}

/** Counts what a server does, from its start. */
export class ServerCounters {
  readonly #counts = new Map<string, Map<string, number>>();

  count(name: CounterName, labels: Labels = {}): void {
    const series = this.#counts.get(name) ?? new Map<string, number>();
    const key = labelsToText(labels);
    this.#counts.set(name, series.set(key, (series.get(key) ?? 0) + 1));
  }

  /** Counts a post by its result. */
  async countPost<Result extends { readonly status: "accepted" | "ignored" }>(
    kind: string,
    post: () => Promise<Result>,
  ): Promise<Result> {
    try {
      const receipt = await post();
      this.count("moora_posts_total", { kind, result: receipt.status });
      return receipt;
    } catch (error) {
      this.count("moora_posts_total", { kind, result: "failed" });
      throw error;
    }
  }

  /** All counts and these gauges in the text format of Prometheus, version 0.0.4. */
  toText(gauges: readonly Gauge[]): string {
    const texts = [
      ...Object.entries(counters).map(([name, help]) =>
        familyText({ name, help, type: "counter" }, this.#counts.get(name)),
      ),
      ...gauges.map(({ name, help, value }) =>
        familyText({ name, help, type: "gauge" }, new Map([["", value]])),
      ),
    ];
    return texts.join("");
  }
}

const labelsToText = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
};

function familyText(
  { name, help, type }: { readonly name: string; readonly help: string; readonly type: string },
  series: ReadonlyMap<string, number> = new Map(),
): string {
  const lines = [...series].map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}
