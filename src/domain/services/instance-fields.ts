/** What callers may say of a new instance. */
import { PlatformError } from '../errors.ts';

const MAX_PLAN = 100;
const MAX_TAGS = 50;
const MAX_TAG = 100;
const MAX_PARAMETERS = 100;
const MAX_PARAMETER = 4_096;

/** Whether there is such a plan is the provider's to say. */
export function checkPlan(plan: unknown): string {
  if (plan === undefined || plan === null) return '';
  if (typeof plan === 'string' && plan.length <= MAX_PLAN && isLine(plan)) return plan;
  throw new PlatformError('input.invalid', `The plan must be text of at most ${MAX_PLAN} characters.`);
}

export function checkTags(tags: unknown): string[] {
  const list = tags === undefined || tags === null ? [] : [tags].flat();
  if (list.length <= MAX_TAGS && list.every((tag) => typeof tag === 'string' && tag.length <= MAX_TAG && isLine(tag))) {
    return [...new Set((list as string[]).map((tag) => tag.trim()))].filter((tag) => tag !== '').sort();
  }
  throw new PlatformError('input.invalid', `There may be at most ${MAX_TAGS} tags of ${MAX_TAG} characters.`);
}

/** Names and values for the provider. */
export function checkParameters(parameters: unknown): Record<string, string> {
  if (parameters === undefined || parameters === null || parameters === '') return {};
  const pairs = typeof parameters === 'object' && !Array.isArray(parameters) ? Object.entries(parameters) : null;
  const isGood = (text: unknown): boolean => typeof text === 'string' && text.length <= MAX_PARAMETER;
  if (pairs !== null && pairs.length <= MAX_PARAMETERS && pairs.flat().every(isGood)) {
    return Object.fromEntries(pairs) as Record<string, string>;
  }
  const hint = `Send at most ${MAX_PARAMETERS} names with values that are text.`;
  throw new PlatformError('input.invalid', 'The parameters of an instance are names with text values.', { hint });
}

function isLine(text: string): boolean {
  return !/[\u0000-\u001f\u007f]/.test(text);
}
