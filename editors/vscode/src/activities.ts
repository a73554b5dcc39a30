/** Tells the memory what is worked on: files opened, edited, saved and closed, names looked at. */

import * as vscode from "vscode";

import { Client } from "./client";

const MOST_SYMBOLS = 20;
/** Milliseconds for which a name that is looked at again is not told again. */
const GLANCE = 5_000;
const MOST_TOLD = 200;
const SYMBOLS_WITHIN = 1_000;

interface Activity {
  type: "session_start" | "file_open" | "file_edit" | "file_save" | "file_close" | "symbol_hover";
  filePath?: string;
  changedSymbols?: string[];
}

/** An activity that the memory was told, and how long it took until it was stored. */
export interface Told extends Activity {
  at: Date;
  milliseconds: number;
  failed: string;
}

/** The lines of a document that changed since the memory was told last. */
interface Pending {
  lines: Set<number>;
  timer: NodeJS.Timeout | undefined;
}

export class Activities implements vscode.Disposable {
  /** What was told, the last first: nobody has to guess what a memory hears of their work. */
  readonly told: Told[] = [];

  private readonly pending = new Map<string, Pending>();
  private readonly changed = new Map<string, string[]>();
  private readonly subscriptions: vscode.Disposable[] = [];
  private glanced = { name: "", at: 0 };

  constructor(
    private readonly client: () => Client | undefined,
    private readonly folder: vscode.WorkspaceFolder,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscriptions.push(
      vscode.window.onDidChangeActiveTextEditor((editor) => this.opened(editor)),
      vscode.workspace.onDidChangeTextDocument((event) => this.edited(event)),
      vscode.workspace.onDidSaveTextDocument((document) => this.saved(document)),
      vscode.window.tabGroups.onDidChangeTabs((event) => this.closed(event.closed)),
      vscode.languages.registerHoverProvider(
        { scheme: "file" },
        { provideHover: (document, position) => this.lookedAt(document, position) },
      ),
    );
  }

  /** Tell that work begins, and with which file. */
  begin(): void {
    void this.tell({ type: "session_start" });
    this.opened(vscode.window.activeTextEditor);
  }

  dispose(): void {
    for (const one of this.pending.values()) {
      clearTimeout(one.timer);
    }
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private opened(editor: vscode.TextEditor | undefined): void {
    const path = editor && this.pathOf(editor.document.uri);
    if (path && this.wants("open")) {
      void this.tell({ type: "file_open", filePath: path });
    }
  }

  private edited(event: vscode.TextDocumentChangeEvent): void {
    const path = this.pathOf(event.document.uri);
    if (!path || event.contentChanges.length === 0 || !this.wants("edit")) {
      return;
    }
    const pending = this.pending.get(path) ?? { lines: new Set<number>(), timer: undefined };
    for (const change of event.contentChanges) {
      const first = change.range.start.line;
      const last = first + change.text.split("\n").length - 1;
      for (let line = first; line <= last; line += 1) {
        pending.lines.add(line);
      }
    }
    clearTimeout(pending.timer);
    const quiet = vscode.workspace.getConfiguration("ctxmw").get<number>("debounce", 200);
    pending.timer = setTimeout(() => void this.tellEdit(event.document, path), quiet);
    this.pending.set(path, pending);
  }

  private async tellEdit(document: vscode.TextDocument, path: string): Promise<void> {
    const symbols = await this.take(document, path);
    await this.tell({ type: "file_edit", filePath: path, changedSymbols: symbols });
  }

  private async saved(document: vscode.TextDocument): Promise<void> {
    const path = this.pathOf(document.uri);
    if (path && this.wants("edit")) {
      const symbols = await this.take(document, path);
      await this.tell({ type: "file_save", filePath: path, changedSymbols: symbols });
    }
  }

  /** Return the names of what changed in a document; without a change since, of the last one. */
  private async take(document: vscode.TextDocument, path: string): Promise<string[]> {
    const pending = this.pending.get(path);
    this.pending.delete(path);
    clearTimeout(pending?.timer);
    if (pending) {
      this.changed.set(path, await symbolsAt(document.uri, pending.lines));
    }
    return this.changed.get(path) ?? [];
  }

  private closed(tabs: readonly vscode.Tab[]): void {
    for (const tab of tabs) {
      const path = tab.input instanceof vscode.TabInputText && this.pathOf(tab.input.uri);
      if (path && this.wants("close")) {
        this.changed.delete(path);
        void this.tell({ type: "file_close", filePath: path });
      }
    }
  }

  private lookedAt(document: vscode.TextDocument, position: vscode.Position): undefined {
    const path = this.pathOf(document.uri);
    const range = document.getWordRangeAtPosition(position, /[\p{L}_$][\p{L}\p{N}_$]{2,}/u);
    if (!path || !range || !this.wants("hover")) {
      return;
    }
    const name = document.getText(range);
    const now = Date.now();
    if (name !== this.glanced.name || now - this.glanced.at > GLANCE) {
      this.glanced = { name, at: now };
      void this.tell({ type: "symbol_hover", filePath: path, changedSymbols: [name] });
    }
  }

  private async tell(activity: Activity): Promise<void> {
    const client = this.client();
    if (!client) {
      return;
    }
    const [at, begun] = [new Date(), performance.now()];
    let failed = "";
    try {
      await client.ask("ctxmw/activity", activity);
    } catch (error) {
      failed = String(error);
      this.log.warn(`${activity.type} was not told: ${failed}`);
    }
    this.told.unshift({ ...activity, at, milliseconds: performance.now() - begun, failed });
    this.told.splice(MOST_TOLD);
  }

  private wants(type: string): boolean {
    const told = vscode.workspace.getConfiguration("ctxmw").get<string[]>("activities", []);
    return told.includes(type);
  }

  private pathOf(uri: vscode.Uri): string | undefined {
    const inside = vscode.workspace.getWorkspaceFolder(uri)?.uri.toString();
    if (uri.scheme !== "file" || inside !== this.folder.uri.toString()) {
      return undefined;
    }
    return vscode.workspace.asRelativePath(uri, false).replaceAll("\\", "/");
  }
}

/** Return the names of the definitions that these lines are in, the innermost of each. */
async function symbolsAt(uri: vscode.Uri, lines: Set<number>): Promise<string[]> {
  type Found = vscode.DocumentSymbol | vscode.SymbolInformation;
  const asked = vscode.commands.executeCommand<Found[] | undefined>(
    "vscode.executeDocumentSymbolProvider",
    uri,
  );
  // A language that is still starting must not hold back that a file is edited.
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, SYMBOLS_WITHIN, undefined));
  const found = await Promise.race([asked, late]);
  const names = new Set<string>();
  for (const line of lines) {
    const name = innermost(found ?? [], line);
    if (name) {
      names.add(name);
    }
  }
  return [...names].slice(0, MOST_SYMBOLS);
}

function innermost(
  symbols: (vscode.DocumentSymbol | vscode.SymbolInformation)[],
  line: number,
): string | undefined {
  for (const symbol of symbols) {
    const range = "range" in symbol ? symbol.range : symbol.location.range;
    if (range.start.line <= line && line <= range.end.line) {
      const inner = "children" in symbol ? innermost(symbol.children, line) : undefined;
      return inner ?? symbol.name;
    }
  }
  return undefined;
}
