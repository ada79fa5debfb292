// A client of the official SDK for TypeScript, version 1, that asks its user. It requests a permission, and prints the
// question, the answer and the result, as one line of JSON.
//
// client-elicit.mjs PLACE ANSWER COMMAND ARGUMENT...
//
// PLACE is the directory with the installed packages. ANSWER is the choice of the user.
const [place, answer, command, ...args] = process.argv.slice(2);
const sdk = `${place}/node_modules/@modelcontextprotocol/sdk/dist/esm`;
const { Client } = await import(`${sdk}/client/index.js`);
const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
const { ElicitRequestSchema } = await import(`${sdk}/types.js`);

const client = new Client({ name: 'a test', version: '1' }, { capabilities: { elicitation: {} } });
const asked = [];
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  asked.push(params);
  return { action: 'accept', content: { answer } };
});
await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }));
const wanted = { permissions: ['@network'], reason: 'to publish', wait_seconds: 50 };
const { structuredContent } = await client.callTool({ name: 'request_permission', arguments: wanted });
await client.close();
console.log(JSON.stringify({ asked, result: structuredContent }));
