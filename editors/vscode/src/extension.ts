/** The memory of your agents in the editor: one server, what it is told, and what it tells. */

import * as vscode from "vscode";

import { Activities } from "./activities";
import { Commands } from "./commands";
import { activitiesTold, Explanations } from "./explanations";
import { Server, State } from "./server";
import { Status } from "./status";
import { GivenTree } from "./tree";

const INSTALL = 'pip install "ctxmw[mcp,code]"';

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("ctxmw", { log: true });
  const server = new Server(log);
  const tree = new GivenTree(() => server.client, log);
  const view = vscode.window.createTreeView("ctxmw.given", { treeDataProvider: tree });
  const status = new Status(tree);
  const explanations = new Explanations();
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const start = () => (folder ? server.start(folder.uri.fsPath) : Promise.resolve());
  context.subscriptions.push(log, server, tree, view, status, explanations);
  context.subscriptions.push(...new Commands(() => server.client, tree, explanations).register());
  context.subscriptions.push(
    vscode.commands.registerCommand("ctxmw.restart", start),
    vscode.commands.registerCommand("ctxmw.showLog", () => log.show()),
    vscode.commands.registerCommand("ctxmw.install", install),
    offeredToChat(server),
    server.onDidChange((state) => status.show(state)),
    tree.onDidChangeTreeData(() => {
      view.message = tree.message ? `For: ${tree.message}` : undefined;
      status.show(server.state);
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("ctxmw.command") || event.affectsConfiguration("ctxmw.arguments")) {
        void start();
      }
      status.show(server.state);
    }),
  );
  await vscode.commands.executeCommand("setContext", "ctxmw.state", "none");
  if (!folder) {
    return;
  }
  const activities = new Activities(() => server.client, folder, log);
  context.subscriptions.push(
    activities,
    vscode.commands.registerCommand("ctxmw.told", () =>
      explanations.show("What was told", activitiesTold(activities.told)),
    ),
    server.onDidChange((state) => {
      if (state === "ready" && server.client) {
        activities.begin();
        void tree.follow(server.client);
      } else {
        tree.clear();
      }
      if (state === "missing") {
        void sayHowToInstall(server);
      }
    }),
  );
  await start();
}

/** Chat's agent mode uses the server that the extension has begun: one memory, one process. */
function offeredToChat(server: Server): vscode.Disposable {
  // Editors that are made from VS Code may not have it.
  if (!vscode.lm?.registerMcpServerDefinitionProvider) {
    return new vscode.Disposable(() => undefined);
  }
  const changes = new vscode.EventEmitter<void>();
  const heard: (state: State) => void = () => changes.fire();
  const registered = vscode.lm.registerMcpServerDefinitionProvider("ctxmw", {
    onDidChangeMcpServerDefinitions: changes.event,
    provideMcpServerDefinitions: () => {
      const wanted = vscode.workspace.getConfiguration("ctxmw").get("chat", true);
      if (!server.address || !wanted) {
        return [];
      }
      const headers = { Authorization: `Bearer ${server.address.token}` };
      const uri = vscode.Uri.parse(server.address.url);
      return [new vscode.McpHttpServerDefinition("ctxmw", uri, headers, "0.1.0")];
    },
  });
  return vscode.Disposable.from(registered, changes, server.onDidChange(heard));
}

async function sayHowToInstall(server: Server): Promise<void> {
  const needed = server.said.find((line) => line.includes("pip install")) ?? "";
  const why = needed || `ctxmw was not found. Install it with: ${INSTALL}`;
  const [inTerminal, settings, again] = ["Install in a terminal", "Settings", "Try again"];
  const chosen = await vscode.window.showWarningMessage(why, inTerminal, settings, again);
  if (chosen === inTerminal) {
    install();
  } else if (chosen === settings) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "ctxmw.command");
  } else if (chosen === again) {
    await vscode.commands.executeCommand("ctxmw.restart");
  }
}

/** Write the command into a terminal; a person reads it, and presses Enter. */
function install(): void {
  const terminal = vscode.window.createTerminal("ctxmw");
  terminal.show();
  terminal.sendText(INSTALL, false);
}

export function deactivate(): void {
  // What was subscribed is disposed of, and the server ends with it.
}
