/** What tancho.yaml says of the variables of bound instances: name that the app sees -> name that the service gives. */
import { VARIABLE_NAME } from '../../domain/env/env-rules.ts';
import type { YamlNode } from '../yaml-node.ts';

const MAX_INSTANCES = 50;
const INSTANCE = /^[A-Za-z][-\w]{1,62}$/;

/** Throws YamlMistake. */
export function bindingMap(node: YamlNode | undefined): Record<string, Record<string, string>> {
  if (node === undefined || node.isEmpty) return {};
  const entries = node.entries();
  if (entries.length > MAX_INSTANCES) throw node.mistake(`at most ${MAX_INSTANCES} instances`);
  return Object.fromEntries(
    entries.map(([instance, names]) => {
      if (!INSTANCE.test(instance)) throw names.wrong('is no name of an instance');
      if (!names.isMap) throw names.mistake('a mapping such as "POSTGRES_URL: DATABASE_URL"');
      return [
        instance,
        Object.fromEntries(names.entries().map(([own, given]) => [variable(own, given), givenName(given)])),
      ];
    }),
  );
}

function variable(name: string, node: YamlNode): string {
  if (VARIABLE_NAME.test(name)) return name;
  throw node.wrong('is no name of a variable');
}

function givenName(node: YamlNode): string {
  const name = node.text('the name of a variable that the service gives, such as DATABASE_URL');
  if (VARIABLE_NAME.test(name)) return name;
  throw node.mistake('the name of a variable that the service gives, such as DATABASE_URL');
}
