/** "Why is it not answering?"; beyond the specification. */
import { json, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';
import { appParams, queryText } from './fields.ts';

export const diagnosisOperations: readonly Operation[] = [
  json({
    id: 'apps.diagnosis',
    section: null,
    summary:
      'Say why an app is not answering: the first link that is broken between a visitor and the app, and what mends it.',
    method: 'GET',
    path: '/apps/:app/diagnosis',
    access: 'user',
    isSlow: true,
    params: appParams,
    shape: 'diagnosis',
    errors: ['app.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params }) => useCases.diagnoses.ofApp(caller, params.app),
  }),
  json({
    id: 'diagnosis.address',
    section: null,
    summary: 'Say why nothing answers at an address, whichever app it belongs to.',
    method: 'GET',
    path: '/diagnosis',
    access: 'user',
    isSlow: true,
    query: Type.Object({ address: queryText }),
    requiredQuery: ['address'],
    shape: 'diagnosis',
    errors: ['access.denied', 'input.invalid'],
    handle: ({ useCases, caller }, { query }) => useCases.diagnoses.ofAddress(caller, query.address),
  }),
];
