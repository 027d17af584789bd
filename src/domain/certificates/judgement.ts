/** From what was seen of a name to what is wrong with it: pure, so that every case is a row of a table. */
import type { ChallengeKind } from './authority.ts';
import type { Cause } from './cause.ts';
import type { Addresses, CaaRecord, LookupResult, HttpLook } from './name-lookup.ts';

export interface SeenAddress {
  readonly address: string;
  /** It is one of ours, as far as we know. */
  readonly isOurs: boolean;
  readonly answer: HttpLook;
  /** Only asked where port 80 does not answer for us. */
  readonly takesTls: boolean;
}

interface SeenName {
  readonly name: string;
  readonly addresses: LookupResult<Addresses>;
  /** Of the name, or the nearest one above it that has any. */
  readonly caa: LookupResult<readonly CaaRecord[]>;
  readonly seen: readonly SeenAddress[];
  /** What a right answer has in its body. */
  readonly expected: string;
  /** Domains that the authority goes by in CAA records; empty: it does not look at them. */
  readonly caaNames: readonly string[];
  readonly authorityIsPublic: boolean;
  /** Whether this machine has the address itself, so that what it cannot reach nobody can. */
  readonly reachesItself: boolean;
}

export interface Judgement {
  /** Null: nothing is wrong, as far as can be seen from here. */
  readonly cause: Cause | null;
  /** One sentence; '' when nothing is wrong. */
  readonly problem: string;
  /** Challenges that can succeed. */
  readonly challenges: readonly ChallengeKind[];
}

/** Top-level domains that are nobody's (RFC 2606, RFC 6761, RFC 6762, RFC 8375, RFC 9476). */
const PRIVATE_DOMAINS =
  /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|private|test|invalid|example|onion|alt|home\.arpa)$/;
const PROXIES =
  /cloudflare|cloudfront|fastly|akamai|varnish|sucuri|imperva|incapsula|bunny|keycdn|netlify|vercel|ddos-guard|stackpath/i;

export function isPrivateName(name: string): boolean {
  return PRIVATE_DOMAINS.test(name) || !name.includes('.');
}

/** Of a name that is proven by HTTP or TLS. */
export function judge(given: SeenName): Judgement {
  const { name, addresses, authorityIsPublic } = given;
  if (authorityIsPublic && isPrivateName(name)) {
    return wrong('not_public', `${name} is a name of private networks, for which no public authority issues.`);
  }
  if (addresses.kind === 'failed') return wrong('dns_failed', `The name servers of ${name} fail: ${addresses.why}.`);
  if (addresses.kind === 'none') return wrong('no_address', `${name} has no A or AAAA record.`);
  const forbidden = caaProblem(given, false);
  return forbidden ?? judgeAnswers(given);
}

/** Null: the CAA records allow it. */
export function caaProblem(given: Pick<SeenName, 'name' | 'caa' | 'caaNames'>, wildcard: boolean): Judgement | null {
  const { name, caa, caaNames } = given;
  if (caaNames.length === 0) return null;
  if (caa.kind === 'failed') {
    return wrong('dns_failed', `The name servers of ${name} do not answer for its CAA records: ${caa.why}.`);
  }
  if (caa.kind === 'none') return null;
  const wild = caa.value.filter(({ tag }) => tag.toLowerCase() === 'issuewild');
  const issue = caa.value.filter(({ tag }) => tag.toLowerCase() === 'issue');
  const counting = wildcard && wild.length > 0 ? wild : issue;
  const isAllowed = counting.length === 0 || counting.some(({ issuer }) => caaNames.includes(issuer.toLowerCase()));
  if (isAllowed) return null;
  const allowed = counting.map(({ issuer }) => issuer).filter((issuer) => issuer !== '');
  return wrong(
    'caa_forbids',
    `The CAA records of ${name} allow ${allowed.length === 0 ? 'no authority' : allowed.join(', ')}, not ${caaNames.join(' or ')}.`,
  );
}

function judgeAnswers({ name, seen, expected, reachesItself }: SeenName): Judgement {
  const isRight = ({ answer }: SeenAddress): boolean => answer.kind === 'answered' && answer.body.trim() === expected;
  const bad = seen.filter((one) => !isRight(one));
  if (bad.length === 0) {
    // Somebody between the world and us speaks TLS itself: only plain HTTP comes through.
    const isDirect = seen.every(({ isOurs }) => isOurs);
    return { cause: null, problem: '', challenges: isDirect ? ['http-01', 'tls-alpn-01'] : ['http-01'] };
  }
  const foreign = bad.filter(({ isOurs }) => !isOurs);
  const [stranger] = foreign;
  if (stranger !== undefined) return judgeStranger(name, stranger, seen.length > foreign.length);
  if (bad.every(({ takesTls }) => takesTls) && bad.length === seen.length) {
    return { cause: null, problem: '', challenges: ['tls-alpn-01'] };
  }
  return judgeOurs(name, bad, reachesItself);
}

function judgeStranger(name: string, { address, answer }: SeenAddress, othersAreRight: boolean): Judgement {
  const by = answer.kind === 'answered' ? answer.server : '';
  if (PROXIES.test(by)) {
    return wrong('proxied', `${name} leads to a proxy (${by}) that does not pass the authority's request on to here.`);
  }
  if (address.includes(':')) {
    const rest = othersAreRight ? 'and only its IPv4 address here' : 'where another server is';
    return wrong('ipv6_elsewhere', `${name} has the IPv6 address ${address}, ${rest}.`);
  }
  const what = answer.kind === 'answered' ? 'where another server answers' : `where nothing answers (${answer.why})`;
  return wrong('leads_elsewhere', `${name} leads to ${address}, ${what}.`);
}

function judgeOurs(name: string, bad: readonly SeenAddress[], reachesItself: boolean): Judgement {
  const [closed] = bad;
  const other = bad.find(({ answer }) => answer.kind === 'answered');
  if (other?.answer.kind === 'answered') {
    const by = other.answer.server === '' ? 'Something else' : `Another server (${other.answer.server})`;
    return wrong('other_server', `${by} answers for ${name} on port 80 of ${other.address}.`);
  }
  const why = closed?.answer.kind === 'unreachable' ? closed.answer.why : '';
  // Behind a router that does not lead its own address back inside, only the authority can check this.
  if (!reachesItself) return { cause: null, problem: '', challenges: ['http-01', 'tls-alpn-01'] };
  return wrong(
    'port_closed',
    `Port 80 of ${closed?.address ?? ''}, where ${name} leads, cannot be reached: it ${why}.`,
  );
}

function wrong(cause: Cause, problem: string): Judgement {
  return { cause, problem, challenges: [] };
}
