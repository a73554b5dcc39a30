/** The one server of a window: begun here, used by the extension and by chat, ended with both. */

import { ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import * as vscode from "vscode";

import { Address, Client } from "./client";

export type State = "none" | "starting" | "ready" | "missing" | "failed";

const PATIENCE = 60_000;
const BETWEEN_TRIES = 100;
const MOST_LINES = 200;

export class Server implements vscode.Disposable {
  state: State = "none";
  address: Address | undefined;
  client: Client | undefined;
  /** What it said last, for whoever wonders why it does not start. */
  readonly said: string[] = [];

  private process: ChildProcess | undefined;
  private readonly changes = new vscode.EventEmitter<State>();
  readonly onDidChange = this.changes.event;

  constructor(private readonly log: vscode.LogOutputChannel) {}

  /** Begin the server in a folder; what was running before is ended. */
  async start(folder: string): Promise<void> {
    this.stop();
    this.said.length = 0;
    this.become("starting");
    const settings = vscode.workspace.getConfiguration("ctxmw");
    const command = commandIn(folder, settings.get<string>("command", ""));
    if (!command) {
      this.become("missing");
      return;
    }
    const port = await freePort();
    const address = { url: `http://127.0.0.1:${port}/mcp`, token: randomBytes(32).toString("hex") };
    const more = settings.get<string[]>("arguments", []);
    const given = ["mcp", "--http", "--while-piped", "--port", String(port), ...more];
    this.log.info(`starting ${command} ${given.join(" ")} in ${folder}`);
    // By the environment, where other users of this machine cannot read it.
    const environment = { ...process.env, CTXMW_TOKEN: address.token };
    const child = spawn(command, given, { cwd: folder, env: environment });
    this.process = child;
    child.on("error", (error) => this.ended(child, "missing", error.message));
    child.on("exit", (code) => this.ended(child, "failed", `it ended with ${code}`));
    child.stdin?.on("error", () => undefined);
    child.stdout?.on("data", (told: Buffer) => this.heard(told));
    child.stderr?.on("data", (told: Buffer) => this.heard(told));
    await this.answers(child, address);
  }

  stop(): void {
    const child = this.process;
    this.process = undefined;
    this.address = this.client = undefined;
    child?.stdin?.end();
    child?.kill();
  }

  dispose(): void {
    this.stop();
    this.changes.dispose();
  }

  private async answers(child: ChildProcess, address: Address): Promise<void> {
    const client = new Client(address);
    for (const begun = Date.now(); Date.now() - begun < PATIENCE; ) {
      if (this.process !== child) {
        return;
      }
      try {
        await client.ask("server/discover");
        this.address = address;
        this.client = client;
        this.log.info(`the memory answers after ${Date.now() - begun} ms`);
        this.become("ready");
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES));
      }
    }
    this.ended(child, "failed", `no answer within ${PATIENCE / 1000} s`);
  }

  private ended(child: ChildProcess, state: State, why: string): void {
    if (this.process !== child) {
      return;
    }
    this.log.error(`the memory is gone: ${why}`);
    this.stop();
    const lacksPackage = this.said.some((line) => line.includes("pip install"));
    this.become(lacksPackage ? "missing" : state);
  }

  private heard(told: Buffer): void {
    for (const line of told.toString().split(/\r?\n/).filter(Boolean)) {
      this.log.info(line);
      this.said.push(line);
    }
    this.said.splice(0, this.said.length - MOST_LINES);
  }

  private become(state: State): void {
    this.state = state;
    void vscode.commands.executeCommand("setContext", "ctxmw.state", state);
    this.changes.fire(state);
  }
}

/** Return the program to start: the one named, that of the folder's environment, that of the PATH. */
export function commandIn(folder: string, named: string): string | undefined {
  if (named) {
    return named;
  }
  const windows = process.platform === "win32";
  const program = windows ? "ctxmw.exe" : "ctxmw";
  const own = [".venv", "venv"].map((name) => join(folder, name, windows ? "Scripts" : "bin"));
  const path = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return [...own, ...path].map((place) => join(place, program)).find((found) => existsSync(found));
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => (address && typeof address === "object" ? resolve(address.port) : reject()));
    });
  });
}
