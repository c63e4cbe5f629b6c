// Registers the debug type "agdbg". The debugger itself is `agdbg dap`, which speaks the Debug Adapter Protocol.

const vscode = require('vscode');

/** How agdbg is started: the command and its first arguments. */
function command(folder) {
  const words = vscode.workspace.getConfiguration('agdbg', folder).get('command');
  return Array.isArray(words) && words.length > 0 ? words : ['agdbg'];
}

class AdapterFactory {
  /** A program at a port is spoken to there; for all else an adapter is started. */
  createDebugAdapterDescriptor(session) {
    const { request, host, port, hub } = session.configuration;
    if (request === 'attach' && port !== undefined) {
      return new vscode.DebugAdapterServer(port, host);
    }
    const [program, ...first] = command(session.workspaceFolder);
    const which = request === 'attach' && hub !== undefined ? ['--hub', hub] : [];
    return new vscode.DebugAdapterExecutable(program, [...first, 'dap', ...which]);
  }
}

class ConfigurationProvider {
  /** Without a launch.json the file in the editor is debugged. */
  resolveDebugConfiguration(folder, configuration) {
    const editor = vscode.window.activeTextEditor;
    if (!configuration.type && !configuration.request && !configuration.name && editor?.document.languageId === 'python') {
      return { type: 'agdbg', request: 'launch', name: 'agdbg: this file', program: '${file}', stopOnEntry: true };
    }
    return configuration;
  }

  /** A program at a port wants its token, which need not stand in launch.json. */
  async resolveDebugConfigurationWithSubstitutedVariables(folder, configuration) {
    const { request, port, token } = configuration;
    if (request !== 'attach' || port === undefined || token !== undefined) {
      return configuration;
    }
    const prompt = `The token that the program at port ${port} has printed`;
    const shown = process.env.AGDBG_TOKEN || (await vscode.window.showInputBox({ prompt, password: true }));
    return shown === undefined ? undefined : { ...configuration, token: shown };
  }
}

async function takeControl() {
  const session = vscode.debug.activeDebugSession;
  if (session?.type === 'agdbg') {
    await session.customRequest('agdbg/control', { take: true });
  }
}

function activate(context) {
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory('agdbg', new AdapterFactory()),
    vscode.debug.registerDebugConfigurationProvider('agdbg', new ConfigurationProvider()),
    vscode.commands.registerCommand('agdbg.takeControl', takeControl),
  );
}

module.exports = { activate };
