// A client of the official SDK for TypeScript, version 1, which many coding agents have. It prints what it saw, as one
// line of JSON.
//
// client-v1.mjs PLACE legacy stdio COMMAND ARGUMENT...
// client-v1.mjs PLACE legacy http URL TOKEN
//
// PLACE is the directory with the installed packages.
const [place, , kind, ...words] = process.argv.slice(2);
const sdk = `${place}/node_modules/@modelcontextprotocol/sdk/dist/esm/client`;
const { Client } = await import(`${sdk}/index.js`);
const { StdioClientTransport } = await import(`${sdk}/stdio.js`);
const { StreamableHTTPClientTransport } = await import(`${sdk}/streamableHttp.js`);

const transport =
  kind === 'stdio'
    ? new StdioClientTransport({ command: words[0], args: words.slice(1), stderr: 'inherit' })
    : new StreamableHTTPClientTransport(new URL(words[0]), {
        requestInit: { headers: { Authorization: `Bearer ${words[1]}` } },
      });
const client = new Client({ name: 'a test', version: '1' });
let version;
transport.setProtocolVersion = ((set) => (agreed) => {
  version = agreed;
  set?.call(transport, agreed);
})(transport.setProtocolVersion);
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
  version,
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
