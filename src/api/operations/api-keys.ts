/** The API key of a user (specification 4.7 and 5). */
import { json, type Operation } from '../operation.ts';

const section = '4.7';
const path = '/users/api-key';

export const apiKeyOperations: readonly Operation[] = [
  json({
    id: 'api_key.show',
    section,
    summary: "Show the caller's API key; the first time it is made.",
    method: 'GET',
    path,
    access: 'user',
    // A GET that may create the key, and is recorded each time.
    changesState: true,
    shape: 'apiKey',
    errors: [],
    handle: ({ useCases, caller }) => useCases.users.apiKey(caller),
  }),
  json({
    id: 'api_key.show_text',
    section: null,
    summary: "Show the caller's API key as one text, as clients from 1.0 on read it.",
    method: 'GET',
    path: '/1.0/users/api-key',
    access: 'user',
    changesState: true,
    shape: 'newApiKey',
    errors: [],
    handle: ({ useCases, caller }) => useCases.users.apiKey(caller),
  }),
  json({
    id: 'api_key.regenerate',
    section,
    summary: 'Make a new API key; the old one is void at once.',
    method: 'POST',
    path,
    access: 'user',
    shape: 'newApiKey',
    errors: [],
    handle: ({ useCases, caller }) => useCases.users.regenerateApiKey(caller),
  }),
];
