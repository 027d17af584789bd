/** Platforms (specification 4.6); their administration is beyond it. */
import { type RawBody, readFlag, readBodyFields } from '../body.ts';
import { empty, json, type Operation, progress } from '../operation.ts';
import { Type } from '../schema.ts';
import { queryText } from './fields.ts';
import { readMultipart } from './multipart-text.ts';

const params = Type.Object({ platform: Type.String() });
const rawBody = { mediaType: 'application/yaml', schema: Type.String() };
const wrong = ['platform.invalid_definition', 'unsupported', 'input.invalid_json'] as const;

export const platformOperations: readonly Operation[] = [
  json({
    id: 'platforms.list',
    section: '4.6',
    summary: 'List the platforms apps can be made for.',
    method: 'GET',
    path: '/platforms',
    access: 'user',
    shape: 'platforms',
    errors: [],
    handle: ({ useCases, caller }) => useCases.platforms.list(caller),
  }),
  progress({
    id: 'platforms.add',
    section: null,
    summary: 'Add a platform: its name and its definition.',
    method: 'POST',
    path: '/platforms',
    access: 'user',
    query: Type.Object({ name: queryText }),
    rawBody,
    errors: [...wrong, 'platform.invalid_name', 'platform.name_taken', 'app.busy'],
    handle: async ({ useCases, caller }, { query, body }, say) => {
      const { name = query.name ?? '', definition = '' } = readDefinition(body);
      const added = await useCases.platforms.add(caller, { name, definition });
      for (const missing of added.missing) say(`!     ${missing}`);
      say(`Platform ${name} added.`);
    },
  }),
  progress({
    id: 'platforms.update',
    section: null,
    summary: 'Change the definition of a platform, for the next deploys, or whether new apps may be made for it.',
    method: 'PUT',
    path: '/platforms/:platform',
    access: 'user',
    params,
    query: Type.Object({ disabled: queryText }),
    rawBody,
    errors: [...wrong, 'platform.unknown', 'platform.in_use', 'app.busy'],
    handle: async ({ useCases, caller }, { params, query, body }, say) => {
      const { definition, disabled = query.disabled } = readDefinition(body);
      const isDisabled = disabled === undefined || disabled === '' ? undefined : readFlag('disabled', disabled);
      await useCases.platforms.update(caller, params.platform, { definition, isDisabled });
      say(`Platform ${params.platform} changed.`);
    },
  }),
  empty({
    id: 'platforms.remove',
    section: null,
    summary: 'Remove a platform that was added and has no apps.',
    method: 'DELETE',
    path: '/platforms/:platform',
    access: 'user',
    params,
    errors: ['platform.unknown', 'platform.in_use', 'app.busy'],
    handle: ({ useCases, caller }, { params }) => useCases.platforms.remove(caller, params.platform),
  }),
];

interface DefinitionInput {
  readonly name?: string | undefined;
  readonly definition?: string | undefined;
  readonly disabled?: string | undefined;
}

/** A form, also with files, JSON, or the definition as it is; existing clients call it by what they mean it to be. */
function readDefinition(body: RawBody): DefinitionInput {
  const fields = readMultipart(body) ?? textFields(body);
  if (fields.size === 0) return { definition: body.text.trim() === '' ? undefined : body.text };
  const given = ['definition', 'dockerfile_content', 'dockerfile', 'file'].map((name) => fields.get(name));
  return {
    name: fields.get('name'),
    definition: given.find((text) => text !== undefined && text.trim() !== ''),
    disabled: fields.get('disabled'),
  };
}

function textFields(body: RawBody): Map<string, string> {
  const scalars = [...readBodyFields(body)].flatMap(([name, values]) => {
    const value = values.at(-1);
    return typeof value === 'string' || typeof value === 'boolean' ? [[name, String(value)] as const] : [];
  });
  return new Map(scalars);
}
