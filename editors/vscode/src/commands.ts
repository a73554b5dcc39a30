/** What a person does with the memory: remember, ask why, search, rate, pin, edit, forget. */

import * as vscode from "vscode";

import { Client } from "./client";
import { explanation, Explanations, originTold } from "./explanations";
import { Given, Hit, Item, Origin } from "./memory";
import { GivenTree, Shown } from "./tree";

const KINDS: [string, string][] = [
  ["fact", "something to know"],
  ["preference", "how you like it"],
  ["rule", "what must be done"],
  ["anti_pattern", "what must not be done"],
  ["decision", "what was decided"],
  ["correction", "what was wrong before"],
];
const TYPING = 150;

export class Commands {
  constructor(
    private readonly client: () => Client | undefined,
    private readonly tree: GivenTree,
    private readonly explanations: Explanations,
  ) {}

  register(): vscode.Disposable[] {
    const made: Record<string, (shown?: Shown) => unknown> = {
      rememberSelection: () => this.remember(),
      why: (shown) => this.why(shown?.item),
      search: () => this.search(),
      inspect: () => this.inspect(),
      now: () => this.tree.about(""),
      missing: () => this.missing(),
      refresh: () => this.tree.look(),
      up: (shown) => this.rate(shown?.item, 1),
      down: (shown) => this.rate(shown?.item, -1),
      takeBack: (shown) => this.rate(shown?.item, 0),
      pin: (shown) => this.change("ctxmw/pin", shown?.item),
      unpin: (shown) => this.change("ctxmw/unpin", shown?.item),
      keepOut: (shown) => this.change("ctxmw/keep_out", shown?.item),
      edit: (shown) => this.edit(shown?.item),
      forget: (shown) => this.forget(shown?.item),
    };
    return Object.entries(made).map(([name, run]) =>
      vscode.commands.registerCommand(`ctxmw.${name}`, (given?: unknown) =>
        told(() => run(given instanceof Shown ? given : undefined)),
      ),
    );
  }

  private async remember(): Promise<void> {
    const selected = uncommented(selection());
    const text =
      selected || (await vscode.window.showInputBox({ prompt: "What shall be remembered?" }));
    if (!text?.trim()) {
      return;
    }
    const picks = KINDS.map(([label, description]) => ({ label, description }));
    const placeHolder = `Remember "${firstWords(text)}" as`;
    const kind = await vscode.window.showQuickPick(picks, { placeHolder });
    if (kind) {
      const kept = await this.ask<{ ref: string }>("ctxmw/remember", { text, kind: kind.label });
      await this.tree.look();
      vscode.window.setStatusBarMessage(`Remembered as ${kept.ref}`, 5_000);
    }
  }

  private async why(item: Item | undefined): Promise<void> {
    if (item) {
      const origin = item.type
        ? await this.ask<Origin>("ctxmw/why", { ref: item.ref })
        : undefined;
      return this.explanations.show(`Why ${item.ref}`, explanation(item, origin));
    }
    const prompt = "An answer of the agent, or the id of its call";
    const answer = selection() || (await vscode.window.showInputBox({ prompt }));
    if (answer?.trim()) {
      type Why = Given & { record: string; explained: string };
      const why = await this.ask<Why>("ctxmw/why", { answer });
      await this.explanations.show(`Why ${why.record}`, why.explained);
    }
  }

  private search(): void {
    const box = vscode.window.createQuickPick<vscode.QuickPickItem & { ref: string }>();
    box.placeholder = "Search everything that is remembered";
    box.matchOnDescription = box.matchOnDetail = true;
    let timer: NodeJS.Timeout | undefined;
    const look = async (query: string): Promise<void> => {
      const { hits } = await this.ask<{ hits: Hit[] }>("ctxmw/search", { query, limit: 30 });
      if (box.value === query) {
        box.items = hits.map((hit) => ({
          label: firstWords(hit.text, 100),
          description: `${hit.kind} · ${hit.score.toFixed(2)}${hit.past ? " · past" : ""}`,
          detail: hit.why,
          alwaysShow: true,
          ref: hit.ref,
        }));
      }
      box.busy = false;
    };
    box.onDidChangeValue((query) => {
      clearTimeout(timer);
      if (query.trim()) {
        box.busy = true;
        timer = setTimeout(() => void told(() => look(query)), TYPING);
      }
    });
    box.onDidAccept(() => {
      const [picked] = box.selectedItems;
      if (picked) {
        box.hide();
        void told(async () => {
          const origin = await this.ask<Origin>("ctxmw/why", { ref: picked.ref });
          await this.explanations.show(`Why ${picked.ref}`, originTold(origin));
        });
      }
    });
    box.onDidHide(() => box.dispose());
    box.show();
  }

  private async inspect(): Promise<void> {
    const prompt = "What would this message be given?";
    const message = await vscode.window.showInputBox({ prompt, value: this.tree.message });
    if (message !== undefined) {
      await this.tree.about(message);
    }
  }

  private async missing(): Promise<void> {
    const prompt = "What should have been there?";
    const missing = await vscode.window.showInputBox({ prompt });
    if (missing?.trim()) {
      await this.ask("ctxmw/rate", { missing, message: this.tree.message });
      await this.tree.look();
    }
  }

  private async rate(item: Item | undefined, value: -1 | 0 | 1): Promise<void> {
    if (!item) {
      return;
    }
    await this.ask("ctxmw/rate", { ref: item.ref, value, message: this.tree.message });
    await this.tree.look();
    if (value < 0 && item.type === "memory") {
      const keepOut = "Keep it out";
      const question = "It will count for less where something alike is asked.";
      void vscode.window.showInformationMessage(question, keepOut).then((chosen) => {
        if (chosen === keepOut) {
          void told(() => this.change("ctxmw/keep_out", item));
        }
      });
    }
  }

  private async change(method: string, item: Item | undefined): Promise<void> {
    if (item) {
      await this.ask(method, { ref: item.ref });
      await this.tree.look();
    }
  }

  private async edit(item: Item | undefined): Promise<void> {
    const value = item && (await this.ask<Origin>("ctxmw/why", { ref: item.ref })).text;
    const text = item && (await vscode.window.showInputBox({ prompt: "What it says", value }));
    if (item && text?.trim() && text !== value) {
      await this.ask("ctxmw/edit", { ref: item.ref, text });
      await this.tree.look();
    }
  }

  private async forget(item: Item | undefined): Promise<void> {
    const detail = "Every copy goes: older versions, and what was learned from it.";
    const question = item && `Forget "${firstWords(item.title)}"?`;
    const options = { modal: true, detail };
    if (item && (await vscode.window.showWarningMessage(question!, options, "Forget")) === "Forget") {
      await this.change("ctxmw/forget", item);
    }
  }

  private ask<T>(method: string, params: object): Promise<T> {
    const client = this.client();
    if (!client) {
      throw new Error("the memory is not running");
    }
    return client.ask<T>(method, params);
  }
}

/** Do something, and say it when it does not work. */
async function told(run: () => unknown): Promise<void> {
  try {
    await run();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(`ctxmw: ${why}`);
  }
}

function selection(): string {
  const editor = vscode.window.activeTextEditor;
  return editor ? editor.document.getText(editor.selection) : "";
}

/** Return what a comment says: without the marks, when every line has them. */
function uncommented(text: string): string {
  const lines = text.trim().split(/\r?\n/);
  const marked = /^\s*(#+|\/\/+|\*|--|;+)\s?/;
  const isComment = lines.every((line) => marked.test(line));
  return isComment ? lines.map((line) => line.replace(marked, "")).join("\n") : text.trim();
}

function firstWords(text: string, most = 50): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
