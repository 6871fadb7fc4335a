import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Implementation, ImportPeer } from "../loops/script.ts";

/** Another library: the packages to install, and the names of its loops in the table. */
interface Peer {
  readonly packages: readonly string[];
  readonly loops: readonly string[];
}

export const peers = {
  "pi-agent-core": {
    packages: ["@mariozechner/pi-agent-core", "@mariozechner/pi-ai"],
    loops: ["pi-agent-core"],
  },
  xstate: { packages: ["xstate"], loops: ["xstate", "xstate, actors"] },
  "ai-sdk": { packages: ["ai", "zod"], loops: ["AI SDK"] },
} as const satisfies Readonly<Record<string, Peer>>;

type PeerName = keyof typeof peers;

/** The module in the folder of a peer that imports its packages: they are not installed in this workspace. */
export const peerEntry = "entry.js";

/** A module that returns the loops of a peer, by their names. */
interface PeerModule {
  readonly loopsOf: (load: ImportPeer) => Promise<Readonly<Record<string, Implementation>>>;
}

const modules: Readonly<Record<PeerName, () => Promise<PeerModule>>> = {
  "pi-agent-core": () => import("../loops/pi.ts"),
  xstate: () => import("../loops/xstate.ts"),
  "ai-sdk": () => import("../loops/ai-sdk.ts"),
};

const isInstalled = (folder: string, peer: string): boolean => existsSync(join(folder, peer, peerEntry));

/** The names of the loops of the peers that are installed in a folder. */
export const installedLoops = (folder: string): readonly string[] =>
  Object.entries(peers).flatMap(([peer, { loops }]) => (isInstalled(folder, peer) ? loops : []));

/** Loads a loop of a peer that is installed in a folder; undefined if no peer has it. */
export async function loadPeerLoop(folder: string, name: string): Promise<Implementation | undefined> {
  for (const [peer, load] of Object.entries(modules)) {
    if (!isInstalled(folder, peer)) continue;
    const entry = pathToFileURL(join(folder, peer, peerEntry)).href;
    const { importPeer }: { readonly importPeer: ImportPeer } = await import(entry);
    const loops = await (await load()).loopsOf(importPeer);
    if (loops[name] !== undefined) return loops[name];
  }
  return undefined;
}
