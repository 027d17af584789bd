/** One plain-text letter as it travels (RFC 5322), lines ended by CRLF. */
export interface MailMessage {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly date: Date;
  /** Unique; letters, digits and dashes. */
  readonly id: string;
}

/** What stands in a header can never begin another one: control characters are left out. */
export function mailMessage({ from, to, subject, text, date, id }: MailMessage): string {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const headers = [
    `From: Tancho <${oneLine(from)}>`,
    `To: ${oneLine(to)}`,
    `Subject: ${encoded(oneLine(subject))}`,
    `Date: ${date.toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${id}@${oneLine(domain)}>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    'Auto-Submitted: auto-generated',
  ];
  return `${headers.join('\r\n')}\r\n\r\n${text.replace(/\r\n?|\n/g, '\r\n')}`;
}

function oneLine(text: string): string {
  return text.replace(/\p{C}+/gu, ' ');
}

/** RFC 2047, where the text is not plain ASCII. */
function encoded(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
}
