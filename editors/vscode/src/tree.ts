/** "What the agent is given now": every item with its score, its tokens and why it is there. */

import * as vscode from "vscode";

import { Client } from "./client";
import { Given, GIVEN, Item, reasonsOf } from "./memory";

/** Milliseconds of quiet after a change before it is looked at: changes come in crowds. */
const QUIET = 150;
const AGAIN = 2_000;

const BLOCKS: Record<string, string> = {
  stable: "Opens every conversation",
  turn: "Comes with this turn",
  replayed: "Came with earlier turns",
  fetched: "The agent fetched",
};
const ICONS: Record<string, string> = {
  preference: "heart",
  rule: "law",
  anti_pattern: "circle-slash",
  decision: "milestone",
  correction: "wrench",
  fact: "note",
  turn: "comment",
  summary: "book",
  function: "symbol-function",
  method: "symbol-method",
  class: "symbol-class",
  module: "symbol-file",
  file: "file",
};

export class Section extends vscode.TreeItem {
  constructor(
    readonly name: string,
    readonly items: Item[],
  ) {
    super(name, vscode.TreeItemCollapsibleState.Expanded);
    const tokens = items.reduce((sum, item) => sum + item.tokens, 0);
    this.description = `${items.length} · ${tokens} tokens`;
    this.id = name;
  }
}

export class Shown extends vscode.TreeItem {
  constructor(readonly item: Item) {
    super(item.title || item.ref, vscode.TreeItemCollapsibleState.Collapsed);
    const marks = [
      item.pinned === "shown" ? "pinned" : "",
      item.rated > 0 ? "helped" : item.rated < 0 ? "did not help" : "",
      item.type && item.trust === "untrusted" ? "untrusted" : "",
      item.shown === "full" ? "" : item.shown,
    ];
    const about = [item.score.toFixed(2), `${item.tokens} tokens`, item.kind, ...marks];
    this.description = about.filter(Boolean).join(" · ");
    this.tooltip = tooltipOf(item);
    this.iconPath = new vscode.ThemeIcon(ICONS[item.kind] ?? "circle-outline");
    this.contextValue = ["item", ...abilities(item), item.rated ? "rated" : ""].join(" ");
    this.id = `${item.block} ${item.ref}`;
  }
}

/** One line below an item: why it is there, or what it costs. */
export class Detail extends vscode.TreeItem {
  constructor(told: string, icon: string) {
    super(told, vscode.TreeItemCollapsibleState.None);
    this.tooltip = told;
    this.iconPath = new vscode.ThemeIcon(icon);
  }
}

type Row = Section | Shown | Detail;

export class GivenTree implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  given: Given | undefined;
  /** The question that is looked at; empty: what matters now. */
  message = "";

  private readonly changes = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changes.event;
  private timer: NodeJS.Timeout | undefined;
  private following: AbortController | undefined;

  constructor(
    private readonly client: () => Client | undefined,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  getTreeItem(element: Row): vscode.TreeItem {
    return element;
  }

  getChildren(element?: Row): Row[] {
    if (element instanceof Shown) {
      return detailsOf(element.item);
    }
    if (element instanceof Section) {
      return element.items.map((item) => new Shown(item));
    }
    const items = this.given?.items ?? [];
    const blocks = Object.keys(BLOCKS).filter((block) => items.some((one) => one.block === block));
    return blocks.map((block) => new Section(BLOCKS[block], items.filter((one) => one.block === block)));
  }

  /** Look for as long as there is a server; it tells of changes. */
  async follow(client: Client): Promise<void> {
    this.following?.abort();
    const following = (this.following = new AbortController());
    void this.look();
    while (!following.signal.aborted && this.client() === client) {
      try {
        await client.listen([GIVEN], () => this.soon(), following.signal);
      } catch (error) {
        this.log.debug(`changes are not heard: ${error}`);
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN));
    }
  }

  /** Look what would be given, now. */
  async look(): Promise<void> {
    const before = JSON.stringify(this.given);
    try {
      this.given = await this.client()?.ask<Given>("ctxmw/inspect", { message: this.message });
    } catch (error) {
      this.given = undefined;
      this.log.warn(`what would be given is not known: ${error}`);
    }
    // A tree that is drawn anew takes the row away from under the pointer.
    if (!this.given || JSON.stringify(this.given) !== before) {
      this.changes.fire();
    }
  }

  about(message: string): Promise<void> {
    this.message = message;
    this.given = undefined;
    void vscode.commands.executeCommand("setContext", "ctxmw.message", message !== "");
    return this.look();
  }

  clear(): void {
    this.following?.abort();
    this.given = undefined;
    this.changes.fire();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.following?.abort();
    this.changes.dispose();
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), QUIET);
  }
}

function detailsOf(item: Item): Detail[] {
  const how = `${item.include}, shown ${item.shown}`;
  const details = [
    new Detail(`score ${item.score.toFixed(2)} (${how})`, "graph"),
    new Detail(`${item.tokens} tokens`, "symbol-numeric"),
    new Detail(`${item.ref} (${item.kind})`, "tag"),
  ];
  const reasons = reasonsOf(item);
  return reasons ? [new Detail(reasons, "question"), ...details] : details;
}

function abilities(item: Item): string[] {
  if (item.type === "memory") {
    return ["stored", item.pinned === "shown" ? "memory-pinned" : "memory-free"];
  }
  return item.type ? ["stored"] : [];
}

function tooltipOf(item: Item): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  // As text, never as Markdown: whoever wrote it must not draw links here.
  text.appendText(item.text || item.title);
  text.appendMarkdown("\n\n---\n\n");
  text.appendText(`${item.ref} · ${item.kind} · score ${item.score.toFixed(2)} · ${item.tokens} tokens`);
  const reasons = reasonsOf(item);
  if (reasons) {
    text.appendMarkdown("\n\n");
    text.appendText(reasons);
  }
  return text;
}
