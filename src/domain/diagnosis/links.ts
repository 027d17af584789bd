/**
 * The chain from a visitor to an answer. Each link comes before those that its break would break too, so the first one that
 * is broken is the cause.
 */
import type { DiagnosisLink } from './link.ts';
import { answerLink } from './links/answer.ts';
import { certificateLink } from './links/certificate.ts';
import { deployLink } from './links/deploy.ts';
import { diskLink } from './links/disk.ts';
import { edgeLink } from './links/edge.ts';
import { exitLink } from './links/exit.ts';
import { healthLink } from './links/health.ts';
import { limitsLink } from './links/limits.ts';
import { nameLink } from './links/name.ts';
import { portLink } from './links/port.ts';
import { quotaLink } from './links/quota.ts';
import { routeLink } from './links/route.ts';
import { rulesLink } from './links/rules.ts';
import { stateLink } from './links/state.ts';
import { unitLink } from './links/unit.ts';

export const LINKS: readonly DiagnosisLink[] = [
  nameLink,
  deployLink,
  stateLink,
  rulesLink,
  diskLink,
  quotaLink,
  limitsLink,
  exitLink,
  unitLink,
  portLink,
  healthLink,
  edgeLink,
  routeLink,
  certificateLink,
  answerLink,
];
