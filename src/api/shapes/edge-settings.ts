import { type EdgeSettings, HOLDS } from '../../domain/apps/edge-settings.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

const schema = Type.Object({
  maintenance: Type.Boolean(),
  /** HTML; empty: the edge's own page. */
  maintenancePage: Type.String(),
  hold: Type.Unsafe<EdgeSettings['hold']>({ type: 'string', enum: [...HOLDS] }),
  holdSeconds: Type.Integer(),
  accessLog: Type.Boolean(),
  sticky: Type.Boolean(),
  redirectHttps: Type.Boolean(),
  /** 0: no limit; so with the others. */
  maxBodyBytes: Type.Integer(),
  responseTimeoutSeconds: Type.Integer(),
  maxRequests: Type.Integer(),
});

export const edgeSettings = shape(schema, (settings: EdgeSettings) => settings);
