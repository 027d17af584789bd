/**
 * The values of `node:http`. An ECMAScript import of that module reads all of its exports, and with them loads the WebSocket and fetch
 * that Node brings: 14 MB that nothing here uses. `node:https` is asked for where a connection is opened.
 */
export const { createServer, request, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http');
