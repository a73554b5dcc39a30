/** The status bar: how much a prompt would be given, and whether the memory is there at all. */

import * as vscode from "vscode";

import { State } from "./server";
import { GivenTree } from "./tree";

const TOLD: Record<Exclude<State, "ready">, [string, string]> = {
  none: ["", ""],
  starting: ["$(sync~spin) ctxmw", "The memory is starting."],
  missing: ["$(warning) ctxmw: not installed", "Click to see how to install it."],
  failed: ["$(error) ctxmw: not running", "Click to see what it said."],
};

export class Status implements vscode.Disposable {
  private readonly bar = vscode.window.createStatusBarItem("ctxmw", vscode.StatusBarAlignment.Right, 90);

  constructor(private readonly tree: GivenTree) {
    this.bar.name = "ctxmw";
    this.bar.command = "ctxmw.given.focus";
  }

  show(state: State): void {
    if (state === "none" || !vscode.workspace.getConfiguration("ctxmw").get("statusBar", true)) {
      this.bar.hide();
      return;
    }
    if (state === "ready") {
      const given = this.tree.given;
      const count = given?.items.length ?? 0;
      this.bar.text = `$(book) ${count} · ${given?.tokens ?? 0} tokens`;
      const what = this.tree.message ? "This message would be given" : "A prompt would be given now";
      this.bar.tooltip = given ? `${what}: ${given.summary}` : "The memory does not answer.";
    } else {
      [this.bar.text, this.bar.tooltip] = TOLD[state];
    }
    this.bar.show();
  }

  dispose(): void {
    this.bar.dispose();
  }
}
