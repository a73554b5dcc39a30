// Prints the imports of a folder's scripts as the TypeScript compiler resolves them, as JSON.
// Started by `benchmarks.code_relations` as: node typescript_imports.cjs FOLDER NODE_MODULES

const fs = require("fs");
const path = require("path");
const root = fs.realpathSync(process.argv[2]);
const ts = require(path.join(path.resolve(process.argv[3]), "typescript"));

const skipped = new Set(["node_modules", ".git"]);
function* scripts(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const whole = path.join(folder, entry.name);
    if (entry.isDirectory() && !skipped.has(entry.name)) yield* scripts(whole);
    else if (/\.[cm]?[jt]sx?$/.test(entry.name) && !/\.d\.[cm]?ts$|\.min\.js$/.test(entry.name)) yield whole;
  }
}

function optionsFor(file) {
  const found = ts.findConfigFile(path.dirname(file), ts.sys.fileExists);
  let options = {};
  if (found && found.startsWith(root)) {
    const read = ts.readConfigFile(found, ts.sys.readFile);
    options = ts.parseJsonConfigFileContent(read.config || {}, ts.sys, path.dirname(found)).options;
  }
  return { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, ...options, allowJs: true };
}

// A declaration file stands for the script that it declares, where that is beside it.
function script(file) {
  const compiled = file.replace(/\.d\.([cm]?)ts$/, ".$1js");
  return fs.existsSync(compiled) ? compiled : file;
}

const imports = [];
for (const file of scripts(root)) {
  const options = optionsFor(file);
  const text = fs.readFileSync(file, "utf8");
  const sources = ts.preProcessFile(text, true, true).importedFiles.map((one) => one.fileName);
  // "export * as x from" is not among those.
  for (const one of ts.createSourceFile(file, text, ts.ScriptTarget.Latest).statements) {
    if (ts.isExportDeclaration(one) && one.moduleSpecifier) sources.push(one.moduleSpecifier.text);
  }
  for (const source of sources) {
    const found = ts.resolveModuleName(source, file, options, ts.sys).resolvedModule;
    if (!found) continue;
    const target = path.relative(root, script(fs.realpathSync(found.resolvedFileName)));
    if (!target.startsWith("..") && !/\.d\.[cm]?ts$|\.json$/.test(target)) {
      imports.push([path.relative(root, file), target]);
    }
  }
}
console.log(JSON.stringify({ imports }));
