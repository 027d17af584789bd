/**
 * The framework turns every schema into code when the server starts: with three variants of each operation that is a good part of
 * the start and several megabytes. Here each is turned into code when it is first needed.
 */
import { Ajv, type AnySchema } from 'ajv';
import fastJson, { type Schema } from 'fast-json-stringify';
import type { FastifySchema, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';
import { once } from '../../lib/once.ts';

const ajv = once(
  () => new Ajv({ coerceTypes: false, removeAdditional: false, useDefaults: false, allowUnionTypes: true }),
);

export const validatorsOnDemand: FastifySchemaCompiler<FastifySchema> = ({ schema }) => {
  const validator = once(() => ajv().compile(schema as AnySchema));
  const validate: ReturnType<FastifySchemaCompiler<FastifySchema>> = (data: unknown) => {
    const isValid = validator()(data) === true;
    validate.errors = validator().errors ?? null;
    return isValid;
  };
  return validate;
};

export const serializersOnDemand: FastifySerializerCompiler<FastifySchema> = ({ schema }) => {
  const serializer = once(() => fastJson(schema as Schema));
  return (data: unknown) => serializer()(data);
};

const serializers = new WeakMap<object, (data: unknown) => string>();

/** A document as its schema shows it, where it is not the framework that writes it. */
export function serialized(schema: object, data: unknown): string {
  const serialize = serializers.get(schema) ?? fastJson(schema as Schema);
  serializers.set(schema, serialize);
  return serialize(data);
}
