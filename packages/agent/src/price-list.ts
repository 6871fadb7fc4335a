export type { ModelPrice, PriceList } from "@moora/agent-core-state-machine";
