import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packs } from "../../scripts/workspace.ts";
import { peerEntry, peers } from "../harness/peer-loader.ts";

/** The folder with a project for each peer that is installed. */
export const peersFolder: string = join(packs, "peers");

/** Imports a package from the folder of the entry. */
const entry = `export const importPeer = (name) => import(name);\n`;

/** Installs the newest release of each peer with pnpm. Returns a line for each: its versions, or why it cannot be had. */
export function installPeers(): readonly string[] {
  return Object.entries(peers).map(([peer, { packages }]) => {
    const folder = join(peersFolder, peer);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    writeFileSync(join(folder, "pnpm-workspace.yaml"), JSON.stringify({ packages: [] }));
    const args = ["add", "--ignore-scripts", "--reporter=append-only", ...packages];
    const { status, stdout, stderr, error } = spawnSync("pnpm", args, { cwd: folder, encoding: "utf8" });
    if (status !== 0) return `${peer}: cannot be installed: ${error?.message ?? lastLine(stdout + stderr)}`;
    writeFileSync(join(folder, peerEntry), entry);
    return `${peer}: ${packages.map((name) => `${name} ${versionOf(folder, name)}`).join(", ")}`;
  });
}

const lastLine = (text: string): string => text.trim().split("\n").at(-1) ?? "";

function versionOf(folder: string, name: string): string {
  const { version } = JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"));
  return String(version);
}
