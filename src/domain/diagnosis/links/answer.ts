import { healthCheckOf } from '../../units/routed.ts';
import type { DiagnosisLink } from '../link.ts';

const SERVER_ERROR = 500;

/** The proof: a real request through the router. */
export const answerLink: DiagnosisLink = {
  name: 'answer',
  asks: 'Does a real request get an answer?',
  check({ app, url, process, answer, page, release }) {
    const path = (release === null ? null : healthCheckOf(release, process))?.path ?? '/';
    const log = `tancho app log ${app.name}`;
    const asked = `A request for ${url}${path}`;
    if (answer.kind !== 'answered') {
      return { cause: `${asked} got no answer: the app ${answer.why}.`, command: log };
    }
    if (answer.isRefusal) {
      return {
        cause: `${asked} was refused by the router with status ${answer.status}.`,
        command: `tancho why ${app.name}, once more; then: ${log}`,
      };
    }
    if (page?.isHostRefused === true) return { cause: page.text, command: page.hint };
    if (answer.status < SERVER_ERROR) return null;
    return { cause: `${asked} got an error of the app itself: status ${answer.status}.`, command: log };
  },
};
