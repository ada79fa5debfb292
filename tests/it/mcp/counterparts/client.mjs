// A client of the official SDK for TypeScript, version 2. It prints what it saw, as one line of JSON.
//
// client.mjs PLACE MODE stdio COMMAND ARGUMENT...
// client.mjs PLACE MODE http URL TOKEN
//
// PLACE is the directory with the installed packages.
const [place, mode, kind, ...words] = process.argv.slice(2);
const sdk = `${place}/node_modules/@modelcontextprotocol/client/dist`;
const { Client, StreamableHTTPClientTransport } = await import(`${sdk}/index.mjs`);
const { StdioClientTransport } = await import(`${sdk}/stdio.mjs`);

const transport =
  kind === 'stdio'
    ? new StdioClientTransport({ command: words[0], args: words.slice(1), stderr: 'inherit' })
    : new StreamableHTTPClientTransport(new URL(words[0]), {
        requestInit: { headers: { Authorization: `Bearer ${words[1]}` } },
      });
const negotiation = mode === 'legacy' || mode === 'auto' ? mode : { pin: mode };
const client = new Client({ name: 'a test', version: '1' }, { versionNegotiation: { mode: negotiation } });
await client.connect(transport);
const call = (name, args) => client.callTool({ name, arguments: args });
const { tools } = await client.listTools();
const check = await call('check_permission', { permissions: ['@network', '@events'] });
const request = await call('request_permission', { permissions: ['@network'], reason: 'to read the docs' });
const waiting = await call('await_permission', { request_id: request.structuredContent.request_id });
const wrong = await call('await_permission', { request_id: 'nothing' });
const { resources } = await client.listResources();
const read = await client.readResource({ uri: 'bestow://requests' });
const seen = {
  version: client.getNegotiatedProtocolVersion(),
  tools: tools.map((tool) => tool.name),
  check: check.structuredContent,
  request: request.structuredContent,
  waiting: waiting.structuredContent,
  wrong: [wrong.isError, wrong.content[0].text],
  resources: resources.map((resource) => resource.uri),
  read: JSON.parse(read.contents[0].text),
};
await client.close();
console.log(JSON.stringify(seen));
