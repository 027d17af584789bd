/** Reason phrases of the answers the edge itself gives. */
export const STATUS_TITLES: Readonly<Record<number, string>> = {
  200: 'OK',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  404: 'Not Found',
  408: 'Request Timeout',
  413: 'Content Too Large',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
};
