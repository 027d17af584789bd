/** What clients of different ages send to make or change an instance: JSON or a form. */
import { PlatformError } from '../../domain/errors.ts';
import type { InstanceChange, NewInstance } from '../../domain/services/instances.ts';
import { isRecord } from '../../lib/is-record.ts';
import { isForm, parseJson, type RawBody, textOf } from '../body.ts';

const PARAMETER = /^parameters\.(.+)$/;

/** `service`: from the path; '' when the body names it. Throws `input.invalid`, `input.invalid_json`. */
export function readNewInstance(body: RawBody, service: string): NewInstance {
  const fields = instanceFields(body);
  return {
    name: fields['name'],
    service: service === '' ? serviceName(fields['service_name']) : service,
    plan: fields['plan'],
    owner: textOf('owner', fields['owner'] ?? fields['teamOwner']),
    description: fields['description'],
    tags: fields['tags'] ?? fields['tag'],
    parameters: fields['parameters'],
  };
}

function serviceName(given: unknown): string {
  const name = textOf('service_name', given);
  if (name !== '') return name;
  throw new PlatformError('input.invalid', 'You must provide the name of the service.', {
    hint: 'Send it as "service_name".',
  });
}

/** Empty fields mean as before: the clients send them all. */
export function readInstanceChange(body: RawBody): InstanceChange {
  const fields = instanceFields(body);
  const given = (value: unknown): unknown => (value === '' || value === null ? undefined : value);
  if (textOf('plan', fields['plan']) !== '') {
    throw new PlatformError('unsupported', 'The plan of an instance cannot be changed.', {
      hint: 'Create another instance with that plan.',
    });
  }
  const description = given(fields['description']);
  const tags = given(fields['tags'] ?? fields['tag']);
  const teamOwner = textOf('teamowner', fields['teamowner'] ?? fields['teamOwner'] ?? fields['owner']);
  return {
    ...(description !== undefined && { description }),
    ...(tags !== undefined && { tags }),
    ...(teamOwner !== '' && { teamOwner }),
  };
}

function instanceFields(body: RawBody): Record<string, unknown> {
  if (isForm(body)) return formFields(new URLSearchParams(body.text));
  const value = parseJson(body);
  if (isRecord(value)) return value;
  throw new PlatformError('input.invalid', 'The request body must be a JSON object.', {
    hint: 'Send for example {"name": "<instance>", "service_name": "<service>"}.',
  });
}

function formFields(form: URLSearchParams): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const parameters: Record<string, string> = {};
  for (const [name, value] of form) {
    const parameter = PARAMETER.exec(name)?.[1];
    if (parameter !== undefined) parameters[parameter] = value;
    else if (name !== 'tags' && name !== 'tag') fields[name] = value;
  }
  for (const name of ['tags', 'tag']) if (form.has(name)) fields[name] = form.getAll(name);
  return { ...fields, parameters };
}
