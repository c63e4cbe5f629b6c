// Runs editors/vscode/extension.js with a stand-in for the editor's API, and prints what it does in each case:
// `node extension.js EXTENSION CASES`, where CASES is a JSON list of {configuration, command?, typed?}.

const Module = require('node:module');
const [extension, cases] = [process.argv[2], JSON.parse(process.argv[3])];
const registered = {};
let now = {};

class Server { constructor(port, host) { Object.assign(this, { kind: 'server', port, host }); } }
class Executable { constructor(program, words) { Object.assign(this, { kind: 'executable', words: [program, ...words] }); } }

const vscode = {
  DebugAdapterServer: Server,
  DebugAdapterExecutable: Executable,
  workspace: { getConfiguration: () => ({ get: () => now.command }) },
  window: {
    get activeTextEditor() { return { document: { languageId: 'python' } }; },
    showInputBox: async (options) => (options.password ? now.typed : 'shown to everybody'),
  },
  commands: { registerCommand: (name, run) => { registered[name] = run; return { dispose() {} }; } },
  debug: {
    get activeDebugSession() { return { type: 'agdbg', customRequest: async (...words) => { now.requested = words; } }; },
    registerDebugAdapterDescriptorFactory: (type, made) => { registered.factory = made; registered.type = type; },
    registerDebugConfigurationProvider: (type, made) => { registered.provider = made; },
  },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));

async function main() {
  require(extension).activate({ subscriptions: [] });
  const found = [];
  for (now of cases) {
    const whole = registered.provider.resolveDebugConfiguration(undefined, now.configuration);
    const configuration = await registered.provider.resolveDebugConfigurationWithSubstitutedVariables(undefined, whole);
    const adapter = configuration && registered.factory.createDebugAdapterDescriptor({ configuration });
    found.push({ configuration, adapter });
  }
  await registered['agdbg.takeControl']();
  console.log(JSON.stringify({ type: registered.type, commands: Object.keys(registered), requested: now.requested, found }));
}

main();
