// What Microsoft's client for testing debug adapters sees of agdbg: `node scenarios.js FACTS NAME` runs one scenario.
// Exits with 0 when it went well; `node scenarios.js FACTS` prints the names. test_dap_testsupport.py runs them all.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const facts = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const { DebugClient } = require(`${facts.modules}/@vscode/debugadapter-testsupport`);

const PATIENCE_MS = 60000;
const BASE = { cwd: facts.directory };
const opened = [];

async function adapter(port) {
  const client = new DebugClient(facts.python, facts.adapter, 'agdbg', { cwd: facts.directory }, true);
  client.defaultTimeout = PATIENCE_MS;
  await client.start(port);
  opened.push(client);
  return client;
}

const small = (more = {}) => ({ ...BASE, program: facts.small, ...more });
const stopped = async (client, request) => {
  const [event] = await Promise.all([client.waitForEvent('stopped'), request()]);
  return event.body;
};
const top = async (client) => (await client.stackTraceRequest({ threadId: 1 })).body.stackFrames[0];
const refused = (promise, told) => assert.rejects(promise, (error) => told.test(error.message) || assert.fail(error.message));

async function atEntry(client) {
  await Promise.all([client.configurationSequence(), client.launch(small({ stopOnEntry: true })), client.waitForEvent('stopped')]);
}

async function entries(client, name) {
  const { scopes } = (await client.scopesRequest({ frameId: (await top(client)).id })).body;
  const { variablesReference } = scopes.find((scope) => scope.name === name);
  return { variablesReference, found: (await client.variablesRequest({ variablesReference })).body.variables };
}

const scenarios = {
  async 'says what it can do'() {
    const { body } = await (await adapter()).initializeRequest();
    assert.equal(body.supportsConfigurationDoneRequest, true);
    assert.equal(body.supportsStepBack, true);
    assert.ok(body.exceptionBreakpointFilters.length > 1);
  },

  async 'refuses what it does not have'() {
    const client = await adapter();
    await client.initializeRequest();
    await refused(client.customRequest('illegal_request'), /no command "illegal_request"/);
    await refused(client.readMemoryRequest ? client.readMemoryRequest({ memoryReference: '1', count: 1 })
      : client.customRequest('readMemory', { memoryReference: '1', count: 1 }), /readMemory: agdbg does not have/);
    await refused(client.disassembleRequest({ memoryReference: '1', instructionCount: 1 }), /disassemble: agdbg does not/);
    await refused(client.nextRequest({}), /threadId is missing/);
    await refused(client.launchRequest({ program: 'missing.py' }), /no such file/);
  },

  async 'runs a program to its end'() {
    const client = await adapter();
    const codes = [];
    client.on('exited', (event) => codes.push(event.body.exitCode));
    await Promise.all([client.configurationSequence(), client.launch(small()), client.waitForEvent('terminated')]);
    assert.deepEqual(codes, [0]);
  },

  async 'tells the exit code'() {
    const client = await adapter();
    const [exited] = await Promise.all([
      client.waitForEvent('exited'), client.configurationSequence(),
      client.launch({ ...BASE, program: facts.failing, args: ['7'] }), client.waitForEvent('terminated')]);
    assert.equal(exited.body.exitCode, 7);
  },

  async 'tells the output'() {
    const client = await adapter();
    let told = '';
    client.on('output', (event) => { if (event.body.category === 'stdout') told += event.body.output; });
    await Promise.all([client.configurationSequence(), client.launch(small()), client.waitForEvent('terminated')]);
    assert.match(told, /grad \[60\.25/);
  },

  async 'stops on entry'() {
    const client = await adapter();
    await Promise.all([
      client.configurationSequence(), client.launch(small({ stopOnEntry: true })),
      client.assertStoppedLocation('entry', { path: facts.small, line: facts.lines.loss })]);
  },

  async 'stops at a breakpoint'() {
    await (await adapter()).hitBreakpoint(small(), { path: facts.small, line: facts.lines.exp });
  },

  async 'stops at a function breakpoint'() {
    const client = await adapter();
    await Promise.all([
      client.waitForEvent('initialized')
        .then(() => client.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'Mul*' }] }))
        .then(({ body }) => assert.equal(body.breakpoints[0].verified, true))
        .then(() => client.configurationDoneRequest()),
      client.launch(small()),
      client.assertStoppedLocation('function breakpoint', { path: facts.small, line: facts.lines.mul })]);
  },

  async 'steps there and back'() {
    const client = await adapter();
    await atEntry(client);
    const names = [(await top(client)).name];
    const step = async (request) => {
      await stopped(client, () => request.call(client, { threadId: 1 }));
      names.push((await top(client)).name);
    };
    await step(client.nextRequest);
    await step(client.stepInRequest);
    await step(client.nextRequest);
    await step(client.stepBackRequest);
    const ops = names.map((name) => name.split(',')[0].split(' ')[0]);
    assert.equal(ops[0], 'SumBackward0');
    assert.equal(ops[1], 'ExpBackward0');
    assert.equal(ops.at(-1), 'ExpBackward0');
    await step(client.reverseContinueRequest);
    await Promise.all([client.waitForEvent('terminated'), client.continueRequest({ threadId: 1 })]);
  },

  async 'shows and sets variables'() {
    const client = await adapter();
    await atEntry(client);
    await stopped(client, () => client.nextRequest({ threadId: 1 }));
    const { variablesReference, found } = await entries(client, 'Gradients in');
    assert.equal(found.length, 1);
    const set = await client.setVariableRequest({ variablesReference, name: found[0].name, value: 'grad * 0' });
    assert.notEqual(set.body.value, found[0].value);
    let told = '';
    client.on('output', (event) => { told += event.body.output; });
    await Promise.all([client.waitForEvent('terminated'), client.continueRequest({ threadId: 1 })]);
    assert.match(told, /grad \[0\.0, 0\.0\]/);
  },

  async 'evaluates'() {
    const client = await adapter();
    await atEntry(client);
    const frames = (await client.stackTraceRequest({ threadId: 1 })).body.stackFrames;
    const frame = frames.find((each) => each.name === '<module>');
    const { body } = await client.evaluateRequest({ expression: 'x.tolist()', frameId: frame.id, context: 'repl' });
    assert.equal(body.result, '[1.0, 2.0]');
    await refused(client.evaluateRequest({ expression: 'nowhere', frameId: frame.id }), /NameError/);
  },

  async 'stops before an error and explains it'() {
    const client = await adapter();
    const filters = [];
    await Promise.all([
      client.waitForEvent('initialized')
        .then(() => client.setExceptionBreakpointsRequest({ filters: ['backward-twice'] }))
        .then(() => client.configurationDoneRequest()),
      client.launch({ ...BASE, program: facts.twice }),
      client.waitForEvent('stopped').then((event) => assert.equal(event.body.reason, 'exception'))]);
    const { body } = await client.exceptionInfoRequest({ threadId: 1 });
    assert.equal(body.exceptionId, 'backward-twice');
    assert.match(body.description, /freed|second|twice|again/i);
  },

  async 'gives the text of a source'() {
    const client = await adapter();
    await client.initializeRequest();
    const { body } = await client.sourceRequest({ source: { path: facts.small }, sourceReference: 0 });
    assert.equal(body.content, fs.readFileSync(facts.small, 'utf8'));
  },

  async 'terminates'() {
    const client = await adapter();
    await atEntry(client);
    const [exited] = await Promise.all([
      client.waitForEvent('exited'), client.waitForEvent('terminated'), client.terminateRequest()]);
    assert.equal(exited.body.exitCode, 128 + 15);
    await client.disconnectRequest();
  },

  async 'disconnects and ends the program'() {
    const client = await adapter();
    const [started] = await Promise.all([
      client.waitForEvent('process'), client.configurationSequence(),
      client.launch(small({ stopOnEntry: true })), client.waitForEvent('stopped')]);
    await client.disconnectRequest({ terminateDebuggee: true });
    fs.writeFileSync(facts.told, String(started.body.systemProcessId));
  },

  async 'shows a trace'() {
    const client = await adapter();
    await client.initializeRequest();
    const [event] = await Promise.all([
      client.waitForEvent('stopped'), client.attachRequest({ trace: facts.trace }).then(() => client.configurationDoneRequest())]);
    assert.match(event.body.description, /in the recording/);
    await refused(client.evaluateRequest({ expression: '1' }), /./);
  },

  async 'serves at a port with a token'() {
    const wrong = await adapter(facts.port);
    await wrong.initializeRequest();
    await refused(wrong.launchRequest(small({ token: 'wrong' })), /the token is not the one/);
    const client = await adapter(facts.port);
    await Promise.all([
      client.configurationSequence(), client.launch(small({ token: facts.token })), client.waitForEvent('terminated')]);
  },
};

async function main(name) {
  if (name === undefined) {
    console.log(JSON.stringify(Object.keys(scenarios)));
    return;
  }
  await scenarios[name]();
  await Promise.all(opened.map((client) => client.stop()));
}

main(process.argv[3]).then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
