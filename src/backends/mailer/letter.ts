/** A letter as nodemailer takes it. */
import type { Mail } from '../../domain/users/mailer.ts';

interface Sending {
  /** An address. */
  readonly from: string;
  readonly date: Date;
  /** Unique; letters, digits and dashes. */
  readonly id: string;
}

export function letter({ to, subject, text }: Mail, { from, date, id }: Sending) {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  return {
    from: { name: 'Tancho', address: from },
    to: { name: '', address: to },
    subject,
    text,
    date,
    messageId: `<${id}@${domain}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    // What a letter says is never a path or an address that is read.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
