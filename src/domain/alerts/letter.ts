/** Pure: an alert as a letter. */
import type { Mail } from '../users/mailer.ts';
import type { Alert } from './alert.ts';

export function letterOf({ rule, subject, state, message, since, resolvedAt }: Alert): Omit<Mail, 'to'> {
  const about = subject === '' ? 'the server' : subject;
  const isOver = state === 'resolved';
  const lines = [
    isOver ? `This is over: ${message}` : message,
    '',
    `Rule:  ${rule}`,
    `Since: ${since}`,
    ...(isOver ? [`Until: ${resolvedAt}`] : []),
    '',
    'What is going on: tancho alert list',
    'What is looked for, and who is informed: tancho alert show',
    '',
  ];
  return { subject: `[Tancho] ${isOver ? 'over' : 'alert'}: ${rule} of ${about}`, text: lines.join('\n') };
}
