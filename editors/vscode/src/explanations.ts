/** Explanations, shown as documents that cannot be edited. */

import * as vscode from "vscode";

import { Told } from "./activities";
import { Item, Origin, reasonsOf } from "./memory";

const SCHEME = "ctxmw-why";

export class Explanations implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changes.event;
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? "";
  }

  async show(name: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}` });
    this.texts.set(uri.path, text);
    this.changes.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true });
  }

  dispose(): void {
    this.registration.dispose();
    this.changes.dispose();
  }
}

/** Say why an item is given now, and where it comes from. */
export function explanation(item: Item, origin: Origin | undefined): string {
  const block = item.block === "stable" ? "opens every conversation" : "comes with this turn";
  const lines = [
    item.text,
    "",
    `Why it is here: it ${block} (${item.include}), shown ${item.shown}, ${item.tokens} tokens.`,
    `Score ${item.score.toFixed(2)}${reasonsOf(item) ? `: ${reasonsOf(item)}` : ""}`,
  ];
  if (item.pinned === "shown") {
    lines.push("You pinned it.");
  }
  return [...lines, ...(origin ? ["", originTold(origin)] : [])].join("\n");
}

/** Say what a record is, where it comes from, and what became of it. */
export function originTold(origin: Origin): string {
  const from = origin.session ? ` in the conversation ${origin.session}` : "";
  const lines = [
    `${origin.ref} (${origin.type}, ${origin.scope})`,
    `From ${origin.source}${from}, ${moment(origin.at)}`,
    "",
    origin.text,
  ];
  if (origin.versions.length > 1) {
    lines.push("", "Versions, the newest first:");
    lines.push(...origin.versions.map((one) => `  ${moment(one.at)}  ${one.source}  ${one.text}`));
  }
  if (origin.ratings.length > 0) {
    lines.push("", "What you said of it:");
    lines.push(...origin.ratings.map((one) => `  ${moment(one.at)}  ${one.value}  ${one.note}`));
  }
  return lines.join("\n");
}

/** Say what the memory was told of a person's work. */
export function activitiesTold(told: Told[]): string {
  const lines = told.map((one) => {
    const about = [one.type, one.filePath, one.changedSymbols?.join(", ")].filter(Boolean).join("  ");
    const became = one.failed || `stored after ${one.milliseconds.toFixed(1)} ms`;
    return `${one.at.toLocaleTimeString()}  ${about}  ${became}`;
  });
  return ["What the memory was told of your work, the last first:", "", ...lines].join("\n");
}

function moment(at: string): string {
  return new Date(at).toLocaleString();
}
