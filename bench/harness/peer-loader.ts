import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Implementation } from "../loops/script.ts";

/** Other libraries, by the names of their packages; the first of each is the one that is named in the table. */
export const peerPackages = {
  "pi-agent-core": ["@mariozechner/pi-agent-core", "@mariozechner/pi-ai"],
  xstate: ["xstate"],
  "ai-sdk": ["ai", "zod"],
} as const;

export type PeerName = keyof typeof peerPackages;

/** The module in the folder of a peer that imports its packages: they are not installed in this workspace. */
export const peerEntry = "entry.js";

/** The exports of a package of a peer. */
export type ImportPeer = (name: string) => Promise<Readonly<Record<string, unknown>>>;

/** The agent loops of a peer, by their names. */
export interface PeerLoops {
  readonly loopsOf: (load: ImportPeer) => Promise<Readonly<Record<string, Implementation>>>;
}

/** A loop of a peer that is installed. */
export interface PeerLoader {
  readonly name: string;
  readonly implement: Implementation;
}

const modules: Readonly<Record<PeerName, () => Promise<PeerLoops>>> = {
  "pi-agent-core": () => import("../loops/pi.ts"),
  xstate: () => import("../loops/xstate.ts"),
  "ai-sdk": () => import("../loops/ai-sdk.ts"),
};

/** The loops of the peers that are installed in a folder. */
export async function loadPeers(folder: string): Promise<readonly PeerLoader[]> {
  const loaders: PeerLoader[] = [];
  for (const [peer, load] of Object.entries(modules)) {
    const entry = join(folder, peer, peerEntry);
    if (!existsSync(entry)) continue;
    const { importPeer }: { readonly importPeer: ImportPeer } = await import(pathToFileURL(entry).href);
    const loops = await (await load()).loopsOf(importPeer);
    for (const [name, implement] of Object.entries(loops)) loaders.push({ name, implement });
  }
  return loaders;
}
